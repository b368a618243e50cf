import {
  type ChatMessage,
  openChatTemplate,
  type Tool,
} from '../../../src/frontend/decoders/reader/chat-template.ts';
import { Chance } from './chance.ts';
import type { FuzzTarget } from './fuzz-target.ts';

/** Templates as models have them, and what they are made of. */
const TEMPLATES = [
  `{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles') }}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] | trim + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ message['content'] ~ eos_token }}{% endif %}{% endfor %}`,
  `{%- if tools %}{{- '<tools>\\n' }}{%- for tool in tools %}{{- tool | tojson(indent=2) }}{{- '\\n' }}{%- endfor %}{%- endif %}{%- for m in messages %}{{- '<|im_start|>' + m.role + '\\n' + (m.content or '') }}{%- if m.tool_calls %}{%- for call in m.tool_calls %}{{- {"name": call.function.name, "arguments": call.function.arguments} | tojson }}{%- endfor %}{%- endif %}{{- '<|im_end|>\\n' }}{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}`,
  `{%- set ns = namespace(found=false, text='', list=[]) -%}{%- for message in messages[::-1] -%}{%- if message.role == 'user' and not ns.found -%}{%- set ns.found = true -%}{%- set ns.text = ns.text ~ message.content.split(' ')[0] -%}{%- endif -%}{%- set ns.list = ns.list + [message.role] -%}{%- endfor -%}{{ ns.list | join(',') }}{{ ns.text | upper }}{{ ns.list | length }}`,
  `{% macro part(x, depth=0) %}{% if x is mapping %}{{ '{' }}{% for k, v in x | items %}{{ k }}: {{ part(v, depth + 1) }}{% if not loop.last %}, {% endif %}{% endfor %}{{ '}' }}{% elif x is iterable and x is not string %}{% for v in x %}{{ part(v, depth + 1) }};{% endfor %}{% else %}{{ x }}{% endif %}{% endmacro %}{{ part(messages) }}`,
  `{% set date = strftime_now("%d %b %Y") %}{{ date | length }}{% for i in range(3, 0, -1) %}{{ i }}{% endfor %}{{ messages | selectattr('role', 'equalto', 'user') | list | length }}{{ messages | map(attribute='role') | join(' ') }}{% for m in messages if m.role != 'system' %}{{ m.content | replace('a', 'b') | indent(2) }}{% else %}none{% endfor %}`,
];
/** Statements, operands, and what may stand behind an operand. */
const STATEMENTS = [
  '{% set ns = namespace(text="a", list=[1]) %}',
  '{% set ns.list = [ns.list, ns.list] %}',
  '{% set ns.list = ns.list + messages %}',
  '{% set ns.text = ns.text ~ ns.text %}',
  '{% set messages = messages + messages %}',
  '{% set ns.list = ns %}',
  '{{ ns.list }}',
  '{{ ns.list | tojson }}',
  '{% set x = messages %}',
  '{{ x }}',
  '{% break %}',
  '{% continue %}',
  '{# note #}',
  '{{ part(part) }}',
  '{% macro part(x) %}{{ part(x) }}{% endmacro %}',
  '{% call part(1) %}{{ caller() }}{% endcall %}',
  '{% endfor %}',
  '{% else %}',
];
const OPERANDS = [
  'messages',
  'tools',
  'ns',
  'ns.list',
  'ns.text',
  'loop',
  'none',
  'true',
  '0',
  '-1',
  '99999999999',
  '0.5',
  "''",
  "'a b'",
  '[]',
  '{}',
  '[[1], [2]]',
  '{"a": [1, {"b": 2}]}',
  'range(9)',
  'range(3000)',
  'range(99999999)',
  'namespace(a=1)',
  'strftime_now("%Y")',
  'messages[0]',
  'messages[-1].content',
  'message',
  'undefined',
  '(1, 2)',
  'not x',
  'part',
  'raise_exception("no")',
  'x if x else 1',
];
const BEHIND = [
  ' | tojson',
  ' | length',
  ' | sort',
  ' | unique',
  ' | list',
  ' | join',
  ' | string',
  ' | first',
  ' | last',
  ' | items',
  ' | trim',
  ' | tojson(indent=100000)',
  ' | indent(100000)',
  " | replace('', 'xyz')",
  ' | dictsort',
  ' | safe',
  ' | int',
  ' | abs',
  ' | upper',
  " | map(attribute='role') | list",
  " | selectattr('role') | list",
  ' | reverse',
  " | default('x')",
  ' | title',
  ' | float',
  ' | capitalize',
  '.role',
  '[0]',
  '[-1]',
  '[::-1]',
  '[0:9:0]',
  '[:3]',
  "['role']",
  '.split()',
  '.upper()',
  '.items()',
  '.x.y',
  '.__proto__',
  '.constructor',
  ' + 1',
  ' ~ "x"',
  ' - 1',
  ' * 3',
  ' ** 9',
  ' // 2',
  ' % 2',
  ' in messages',
  ' not in "abc"',
  ' is defined',
  ' is string',
  ' == 1',
  ' < 2',
  ' and x',
  ' or x',
  ' is mapping',
  ".replace('a', 'bb')",
  ".startswith('a')",
  '.strip()',
  ".get('role')",
  '.keys()',
  " ~ 'a' * 3",
];
const LOOPS = ['{% for i in range(50) %}', '{% for m in messages %}', '{% for c in ns.text %}'];
/** Text, tags, and within tags names, literals and signs. */
const TOKEN = /\{[%{#]-?|-?[%}#]\}|[A-Za-z_]\w*|\d+|'[^']*'|"[^"]*"|\s+|[^\w\s]/g;
const KEYWORDS =
  /^(for|in|if|elif|else|endif|endfor|set|macro|endmacro|and|or|not|is|call|endcall)$/;

const MESSAGES: readonly ChatMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'What is 1 + 1?\nSay it in a word.' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'a', type: 'function', function: { name: 'add', arguments: '{"a":1,"b":[1]}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'a', content: '2' },
  { role: 'user', content: [{ type: 'text', text: 'Thanks' }] },
];
const TOOLS: readonly Tool[] = [
  {
    type: 'function',
    function: {
      name: 'add',
      description: 'Adds',
      parameters: { type: 'object', properties: { a: { type: 'integer' } } },
    },
  },
];

/** Chat templates of which pieces are dropped, doubled, moved and taken from others. */
export function templates(): FuzzTarget {
  const files = TEMPLATES.map((template) => template.match(TOKEN) ?? []);
  return {
    input: async (seed) => {
      const chance = new Chance(seed);
      const tokens = [...chance.pick(files)];
      for (let changes = 1 + chance.below(4); changes > 0; changes--) mutate(tokens, files, chance);
      return Uint8Array.from(Buffer.from(tokens.join('')));
    },
    run: async (bytes) => {
      const source = new TextDecoder().decode(bytes);
      const config = { chat_template: source, bos_token: '<s>', eos_token: { content: '</s>' } };
      const template = await openChatTemplate(config, undefined);
      const asked = { variables: {}, tools: /\btools\b/.test(source) ? TOOLS : [] };
      const text = template?.render(MESSAGES, asked);
      if (typeof text !== 'string') throw new Error(`a text that is ${typeof text}`);
    },
  };
}

/** Where a tag ends, and which tokens are operands, as far as that is to be seen. */
function placesOf(tokens: readonly string[]): {
  readonly ends: number[];
  readonly operands: number[];
} {
  const ends = [0];
  const operands: number[] = [];
  let isInside = false;
  for (const [i, token] of tokens.entries()) {
    if (/^\{[%{]-?$/.test(token)) isInside = true;
    else if (/^-?[%}]\}$/.test(token)) {
      isInside = false;
      ends.push(i + 1);
    } else if (isInside && /^[\w'"]/.test(token) && !KEYWORDS.test(token)) operands.push(i);
  }
  return { ends, operands };
}

function mutate(tokens: string[], files: readonly (readonly string[])[], chance: Chance): void {
  const { ends, operands } = placesOf(tokens);
  const end = chance.pick(ends);
  const operand = operands.length > 0 ? chance.pick(operands) : end;
  switch (chance.below(12)) {
    case 0: {
      const at = chance.below(tokens.length + 1);
      tokens.splice(at, 1 + chance.below(6));
      return;
    }
    case 1: {
      const other = chance.pick(files);
      const from = chance.below(other.length);
      tokens.splice(end, 0, ...other.slice(from, from + 1 + chance.below(20)));
      return;
    }
    case 2:
    case 3: {
      const behind = chance.pick(ends.filter((place) => place >= end));
      tokens.splice(behind, 0, '{% endfor %}');
      tokens.splice(end, 0, chance.pick(LOOPS));
      return;
    }
    case 4:
    case 5:
    case 6:
      tokens.splice(operand, 1, chance.pick(OPERANDS));
      return;
    case 7:
    case 8:
      tokens.splice(operand + 1, 0, chance.pick(BEHIND));
      return;
    default:
      tokens.splice(end, 0, chance.pick(STATEMENTS));
  }
}
