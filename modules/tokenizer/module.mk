NEEDS_tokenizer := gguf
