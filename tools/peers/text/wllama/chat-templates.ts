import {
  byteLevelVocabulary,
  gemmaVocabulary,
  llamaVocabulary,
  phiVocabulary,
  type TokenizerMetadata,
} from '../../../../src/frontend/decoders/files/testing/gguf-vocabularies.ts';
import type { ChatRequest } from './in-page.ts';

/** A template after the manner of a family of models, a vocabulary that has its tokens, and conversations that it takes. */
export interface ShownTemplate {
  readonly name: string;
  readonly template: string;
  readonly tokenizer: TokenizerMetadata;
  readonly conversations: readonly ChatRequest['messages'][];
}

const SIZE = 900;

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: string) => ({ role: 'assistant', content });
const system = (content: string) => ({ role: 'system', content });

const PLAIN = [
  [user('Hello world')],
  [user('  the quick brown fox \n'), assistant(' don\'t "jump" '), user('42 <b>&amp;</b> 世界 😀')],
];
const WITH_SYSTEM = [
  ...PLAIN,
  [system('You are  brown.\n'), user('Hello'), assistant('world'), user('fox?')],
];

/** `length` of a text counts code units in @huggingface/jinja and bytes in llama.cpp, where Python counts characters. */
const inAscii = ({ role, content }: ChatRequest['messages'][number]) => {
  return { role, content: content.replace(/[^\0-~]+/gu, '*') };
};

const CHATML = `{%- for message in messages %}
{{- '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}`;

/** With blocks that trim, a namespace, a slice from behind, filters and tests. */
const NAMESPACES = `{%- set ns = namespace(last=-1, count=0) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages | length - 1) - loop.index0 %}
    {%- if ns.last < 0 and message.role == "user" and message.content is string %}
        {%- set ns.last = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- set ns.count = ns.count + message.content | length %}
    {%- if message.content.startswith(' ') or not loop.first and loop.index0 == ns.last %}
        {{- '[' ~ message.role | upper ~ '|' ~ (message.content | trim | tojson) ~ ']' }}
    {%- else %}
        {{- message.role[:1] + ': ' + message.content.strip() + ('' if loop.last else '\\n') }}
    {%- endif %}
{%- endfor %}
{{- '<|im_end|>' + (ns.count | string) }}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}`;

const GEMMA = `{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}{{ '<start_of_turn>' + role + '
' + message['content'] | trim + '<end_of_turn>
' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model
'}}{% endif %}`;

const PHI = `{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}{{'<|system|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'user' %}{{'<|user|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>
' + message['content'] + '<|end|>
'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>
' }}{% else %}{{ eos_token }}{% endif %}`;

const LLAMA2 = `{% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}{% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}{% for message in loop_messages %}{% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\\n' + system_message + '\\n<</SYS>>\\n\\n' + message['content'] %}{% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ bos_token + '[INST] ' + content.strip() + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ ' '  + content.strip() + ' ' + eos_token }}{% endif %}{% endfor %}`;

const LLAMA3 = `{% set loop_messages = messages %}{% for message in loop_messages %}{% set content = '<|start_header_id|>' + message['role'] + '<|end_header_id|>

'+ message['content'] | trim + '<|eot_id|>' %}{% if loop.index0 == 0 %}{% set content = bos_token + content %}{% endif %}{{ content }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>

' }}{% endif %}`;

export const SHOWN_TEMPLATES: readonly ShownTemplate[] = [
  {
    name: 'ChatML',
    template: CHATML,
    tokenizer: byteLevelVocabulary('qwen2', SIZE),
    conversations: WITH_SYSTEM,
  },
  {
    name: 'namespaces and filters',
    template: NAMESPACES,
    tokenizer: byteLevelVocabulary('qwen2', SIZE),
    conversations: WITH_SYSTEM.map((messages) => messages.map(inAscii)),
  },
  { name: 'gemma', template: GEMMA, tokenizer: gemmaVocabulary(SIZE), conversations: PLAIN },
  { name: 'phi 3', template: PHI, tokenizer: phiVocabulary(SIZE), conversations: WITH_SYSTEM },
  {
    name: 'llama 2',
    template: LLAMA2,
    tokenizer: llamaVocabulary(SIZE),
    conversations: WITH_SYSTEM,
  },
  {
    name: 'llama 3',
    template: LLAMA3,
    tokenizer: byteLevelVocabulary('llama-bpe', SIZE),
    conversations: WITH_SYSTEM,
  },
];
