NEEDS_llm := gguf tokenizer
