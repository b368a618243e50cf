import { describe, expect, test } from 'vitest';
import { openChatTemplate, type TemplateInput } from './chat-template.ts';

const user = { role: 'user', content: 'Hi' } as const;
const tool = { type: 'function', function: { name: 'f' } } as const;
const render = async (
  template: unknown,
  messages: unknown = [user],
  input?: TemplateInput,
): Promise<string> => {
  const opened = await openChatTemplate({ chat_template: template }, undefined);
  return opened?.render(messages as never, input) ?? 'none';
};

describe('undefined variables are what they are in Jinja2', () => {
  test.each([
    ['a{{ foo }}b', 'ab'],
    ['{% for x in foo %}x{% endfor %}!', '!'],
    ['{% for x in foo.bar if x %}x{% else %}none{% endfor %}', 'none'],
    ['{{ foo ~ "x" ~ foo }}', 'x'],
    ['{{ foo in ["x"] }} {{ foo not in ["x"] }}', 'false true'],
    [
      '{{ foo | length }}{{ foo | trim | upper }}{{ foo | join(",") }}{{ foo | list | length }}',
      '00',
    ],
    ['{{ foo | default("d") }} {{ foo is defined }} {{ not foo }}', 'd false true'],
    [
      '{{ messages | length }}{{ messages[0].content | trim }}{% for m in messages %}{{ m.role }}{% endfor %}',
      '1Hiuser',
    ],
  ])('%s', async (template, text) => {
    expect(await render(template)).toBe(text);
  });
});

describe('messages', () => {
  const lines = '{% for m in messages %}[{{ m.content }}]{% endfor %}';

  test('have text: that of parts, and none beside calls', async () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ];
    const call = { id: '1', type: 'function', function: { name: 'f', arguments: '{}' } };
    const given = [
      { role: 'user', content: parts },
      { role: 'assistant', content: null, tool_calls: [call] },
    ];
    expect(await render(lines, given)).toBe('[a\nb][]');
  });

  test('that a template refuses are told with its name', async () => {
    await expect(render('{{ raise_exception("no " + messages[0].role) }}')).rejects.toThrow(
      expect.objectContaining({
        name: 'UsageError',
        message:
          'chat_template of tokenizer_config.json: got no user, expected messages that it takes.',
      }),
    );
  });
});

describe('a template', () => {
  test('that cannot be run or read is named', async () => {
    await expect(render('{{ foo + "x" }}')).rejects.toThrow(
      'chat_template of tokenizer_config.json: got Cannot perform operation + on undefined values, expected a template that can be run.',
    );
    const list = [{ name: 'default', template: '{% for %}' }];
    await expect(render(list)).rejects.toThrow(
      'chat_template of tokenizer_config.json, default: got ',
    );
  });

  test.each([
    '{% for i in range(900) %}{% for j in range(900) %}{% endfor %}{% endfor %}',
    '{% for i in range(1000000000) %}x{% endfor %}',
    '{% set ns = namespace(x=[1]) %}{% for i in range(40) %}{% set ns.x = ns.x + ns.x %}{% endfor %}',
    '{% set ns = namespace(x="a") %}{% for i in range(60) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}',
    '{% set x = range(400000) %}{% for i in x %}{{ -1 in x }}{% endfor %}',
    '{% for i in range(9000) %}{{ range(9000) | join(" ") }}{% endfor %}',
    ...['{{ ns.x | tojson }}', '{{ ns.x }}', '{{ ns.x | join }}', '{{ ns.x ~ 1 }}'].map(
      (use) =>
        `{% set ns = namespace(x=[1]) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}${use}`,
    ),
    '{% set a = namespace(x=1) %}{% set b = namespace(x=a, y=a) %}{{ b.x }}',
    '{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(40) }}',
  ])('that does not end is ended: %s', async (template) => {
    await expect(render(template)).rejects.toThrow(
      'got more than 2000000 steps, expected a template that ends.',
    );
  });

  test.each([`a${' '.repeat(1000)}b`, 'a'.repeat(300_000)])(
    'that is very long is refused',
    async (template) => {
      await expect(render(template)).rejects.toThrow(
        `chat_template of tokenizer_config.json: got ${template.length} letters, or 1000 blanks side by side, expected at most 262144`,
      );
    },
  );

  test('has ranges', async () => {
    const template = '{% for i in range(2) %}{{ i }}{% endfor %} {{ range(5, 1, -2) | join(",") }}';
    expect(await render(template)).toBe('01 5,3');
  });

  test('tells the time', async () => {
    expect(await render('{{ strftime_now("%Y") }}')).toMatch(/^20\d\d$/);
  });

  test('named tool_use is taken for tools', async () => {
    const list = [
      { name: 'default', template: 'plain' },
      { name: 'tool_use', template: '{{ tools | length }}' },
    ];
    expect(await render(list)).toBe('plain');
    expect(await render(list, [user], { tools: [tool] })).toBe('1');
    await expect(render('plain', [user], { tools: [tool] })).rejects.toThrow(
      'got tools, expected none, because the template does not read them.',
    );
  });

  test('gets variables', async () => {
    const template = '{% if enable_thinking is false %}no {% endif %}{{ add_generation_prompt }}';
    expect(await render(template, [user], { variables: { enable_thinking: false } })).toBe(
      'no true',
    );
    await expect(render(template, [user], { variables: { messages: [] } })).rejects.toThrow(
      'templateOptions: got "messages"',
    );
  });
});
