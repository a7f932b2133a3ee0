-- Chat templates: what each part of the language writes, by Jinja's rules; and
-- templates of the forms that models bring.
local template = require "lunarray.llm.template"
local raises = require "spec.support.raises"

local function run(source, variables)
  return template.compile(source)(variables or {})
end

local CASES = {
  {"a{{ 1 + 2 * 3 }}b", "a7b"}, {"{{ 'x' ~ 1 ~ true }}", "x1True"},
  {"{{ 7 // 2 }} {{ 7 % 4 }} {{ 7 / 2 }} {{ -3 }}", "3 3 3.5 -3"},
  {"{{ 'a' if x else 'b' }}", "b"}, {"{{ [1, 'a', none] }}", "[1, 'a', None]"},
  {"{{ {'a': 1}['a'] }}{{ {'a': {'b': 2}}.a.b }}", "12"},
  {"{{ 'abc'[1:] }} {{ 'abc'[-1] }} {{ 'abc'[::-1] }}", "bc c cba"},
  {"{{ [1,2,3][:-1] }} {{ [1,2,3][::-1] }}", "[1, 2] [3, 2, 1]"},
  {"{{ 'a' in 'abc' and 'z' not in ['a'] }}", "True"},
  {"{{ not true or 1 == 1.0 }}", "True"},
  {"{{ 1 < 2 and 'a' != 'b' }}", "True"},
  {"{{ ' a '.strip() }}|{{ ' a ' | trim | upper }}", "a|A"},
  {"{{ 'a,b'.split(',')[1] }}{{ 'a-b'.replace('-', '+') }}", "ba+b"},
  {"{{ 'abc'.startswith('ab') }}{{ 'abc'.endswith(('x', 'c')) }}", "TrueTrue"},
  {"{{ [1,2] | join(', ') }} {{ [3,4]|length }} {{ 'ab'|first }}", "1, 2 2 a"},
  {"{{ x is defined }} {{ x is none }} {{ 1 is number }}", "False False True"},
  {"{{ x | default('d') }}", "d"},
  {"{{ {'a': [1, true, none, 'q\"']} | tojson }}",
   '{"a": [1, true, null, "q\\""]}'},
  {"{{ [1] | tojson(indent=2) }}", "[\n  1\n]"},
  {"{% for i in range(3) %}{{ i }}{{ ',' if not loop.last }}{% endfor %}",
   "0,1,2"},
  {"{% for i in [] %}x{% else %}none{% endfor %}", "none"},
  {"{% for i in range(4) if i % 2 %}{{ i }}{{ loop.index }}{% endfor %}",
   "1132"},
  {"{% for k, v in {'a': 1, 'b': 2}.items() %}{{ k }}{{ v }}{% endfor %}",
   "a1b2"},
  {"{% for i in range(9) %}{% if i == 2 %}{% break %}{% endif %}{{ i }}"
    .. "{% endfor %}", "01"},
  {"{% if x %}1{% elif 2 %}2{% else %}3{% endif %}", "2"},
  {"{% set a = 1 %}{% for i in [1] %}{% set a = 2 %}{% endfor %}{{ a }}", "1"},
  {"{% set n = namespace(v=0) %}{% for i in [1,2] %}{% set n.v = n.v + i %}"
    .. "{% endfor %}{{ n.v }}", "3"},
  {"{% set t %}a{{ 1 }}{% endset %}{{ t }}{{ t }}", "a1a1"},
  {"{% macro f(a, b=2) %}<{{ a }}{{ b }}>{% endmacro %}{{ f(1) }}"
    .. "{{ f(3, b=4) }}", "<12><34>"},
  {"a {#- b -#} c", "ac"}, {"a  {%- if true %} b {% endif -%}  c", "a b c"},
  {"x\n  {% if true %}\ny\n  {% endif %}\nz", "x\ny\nz"},
  {"{{ [{'r': 'a'}, {'r': 'b'}] | selectattr('r', 'equalto', 'b') | list "
    .. "| length }}", "1"},
  {"{{ [{'r': 'a'}] | map(attribute='r') | join }}", "a"},
  {"{{ 'a' 'b' }}{{ \"it's\" }}", "abit's"}, {"{{ 'x' * 1 if false else 'y' }}",
   "y"},
}

for _, case in ipairs(CASES) do
  it("gives " .. case[2]:gsub("\n", "\\n") .. " for " .. case[1], function()
    assert.equal(case[2], run(case[1]))
  end)
end

local MESSAGES = {{role = "system", content = "be"},
                  {role = "user", content = " hi "},
                  {role = "assistant", content = "yo"},
                  {role = "user", content = "x"}}

it("renders templates of models' forms", function()
  local chatml = "{% for message in messages %}{{'<|im_start|>' + "
    .. "message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    .. "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n'"
    .. " }}{% endif %}"
  assert.equal("<|im_start|>system\nbe<|im_end|>\n<|im_start|>user\n hi "
    .. "<|im_end|>\n<|im_start|>assistant\nyo<|im_end|>\n<|im_start|>user\nx"
    .. "<|im_end|>\n<|im_start|>assistant\n",
    run(chatml, {messages = MESSAGES, add_generation_prompt = true}))
  local inst = "{{ bos_token }}{% if messages[0]['role'] == 'system' %}"
    .. "{% set rest = messages[1:] %}{% set sys = messages[0]['content'] %}"
    .. "{% else %}{% set rest = messages %}{% endif %}{% for m in rest %}"
    .. "{% if (m['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    .. "{{ raise_exception('roles must alternate') }}{% endif %}"
    .. "{% if loop.index0 == 0 and sys %}{% set c = '<<' + sys + '>>' + "
    .. "m['content'] %}{% else %}{% set c = m['content'] %}{% endif %}"
    .. "{% if m['role'] == 'user' %}{{ '[INST] ' + c.strip() + ' [/INST]' }}"
    .. "{% else %}{{ ' ' + c.strip() + ' ' + eos_token }}{% endif %}"
    .. "{% endfor %}"
  assert.equal("<s>[INST] <<be>> hi [/INST] yo </s>[INST] x [/INST]",
    run(inst, {messages = MESSAGES, bos_token = "<s>", eos_token = "</s>"}))
  raises("roles must alternate", run, inst,
         {messages = {MESSAGES[3]}, bos_token = "", eos_token = ""})
end)

it("stops what has no end", function()
  raises("too many steps", run, "{% for a in range(9999) %}{% for b in "
    .. "range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}"
    .. "{% endfor %}")
  raises("too", run, "{% set ns = namespace(t='xxxxxxxxxxxxxxxx') %}"
    .. "{% for i in range(99999) %}{% set ns.t = ns.t + ns.t %}{% endfor %}")
  raises("nest", run, "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}")
  raises("nested too deep", run, "{{ " .. ("("):rep(100) .. "1"
    .. (")"):rep(100) .. " }}")
end)

it("names what is wrong", function()
  raises("endfor", run, "{% for i in [] %}")
  raises("no statement 'include'", run, "{% include 'x' %}")
  raises("no filter 'foo'", run, "{{ 1 | foo }}")
  raises("without %}", run, "{% if")
  raises("a call of", run, "{{ x() }}")
  raises("undefined", run, "{{ os.exit() }}")
  for _, bad in ipairs{"{{", "{{ 1 + }}", "{{ 'a }}", "{{ a.b.c }}",
                       "{% set %}", "{{ [1 }}", "{{ 1 - 'a' }}", "{{ 1 // 0 }}",
                       "{% endif %}", "{{ a | }}", "{{ $ }}"} do
    raises("template", run, bad)
  end
end)
