import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UnsupportedError, UsageError } from '../core/errors.ts';
import type { ChatCompletionChunk } from './chat/chat-completions.ts';
import { openTestModel } from './testing/open-test-model.ts';
import type { TextModel } from './text-model.ts';
import { parseToolCalls } from './chat/tool-calls.ts';

const TEMPLATE = `{{ bos_token }}{% for message in messages %}<{{ message.role }}>{{ message.content }}
{% endfor %}{% if tools %}tools: {{ tools | length }}
{% endif %}{% if add_generation_prompt %}<assistant>{% endif %}`;

let model: TextModel;
beforeAll(async () => {
  model = await openTestModel('wasm', { chatTemplate: TEMPLATE });
});
afterAll(() => model.dispose());

const messages = [{ role: 'user', content: 'Where is Mia?' }] as const;
const greedy = { temperature: 0, max_tokens: 12 } as const;

describe('a conversation', () => {
  test('is what the template writes', async () => {
    const text = '<|endoftext|><user>Where is Mia?\n<assistant>';
    const tokens = await model.tokenizer.encode(text, { addSpecialTokens: false });
    expect(tokens[0]).toBe(0);
    const expected = await model.generate(tokens, { temperature: 0, maxTokens: 12 }).text();
    expect(expected).not.toBe('');
    expect(await model.chat(messages, { temperature: 0, maxTokens: 12 }).text()).toBe(expected);
  });

  test('begins with what was read before', async () => {
    const first = model.chat(messages, { temperature: 0, maxTokens: 4 });
    const content = await first.text();
    const more = [
      ...messages,
      { role: 'assistant', content },
      { role: 'user', content: 'And?' },
    ] as const;
    const second = model.chat(more, { temperature: 0, maxTokens: 4 });
    await second.text();
    expect(second.usage?.cachedTokens).toBeGreaterThan(first.usage?.promptTokens ?? 99);
  });
});

describe('chat.completions', () => {
  test('gives an answer in the shape of OpenAI', async () => {
    const answer = await model.chat.completions.create({ messages, ...greedy, logprobs: true });
    const [choice] = answer.choices;
    expect(answer).toMatchObject({ object: 'chat.completion', model: 'llama' });
    expect(choice).toMatchObject({
      index: 0,
      finish_reason: 'length',
      message: { role: 'assistant' },
    });
    expect(answer.usage).toMatchObject({ completion_tokens: 12 });
    expect(answer.usage.total_tokens).toBe(answer.usage.prompt_tokens + 12);
    const logprobs = choice?.logprobs?.content ?? [];
    expect(logprobs.map(({ token }) => token).join('')).toBe(choice?.message.content);
    expect(logprobs.every(({ logprob }) => logprob <= 0 && logprob > -20)).toBe(true);
  });

  test('a stream has the same text in pieces', async () => {
    const whole = await model.chat.completions.create({ messages, ...greedy });
    const chunks: ChatCompletionChunk[] = [];
    const options = { include_usage: true };
    const stream = await model.chat.completions.create({
      messages,
      ...greedy,
      stream: true,
      stream_options: options,
    });
    for await (const chunk of stream) chunks.push(chunk);
    const pieces = chunks.flatMap(({ choices }) => choices[0]?.delta.content ?? []);
    expect(pieces.length).toBeGreaterThan(3);
    expect(pieces.join('')).toBe(whole.choices[0]?.message.content);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('length');
    expect(chunks.at(-1)?.usage?.completion_tokens).toBe(12);
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
  });

  test('n answers have seeds of their own', async () => {
    const { choices } = await model.chat.completions.create({
      messages,
      max_tokens: 12,
      seed: 4,
      n: 2,
    });
    const again = await model.chat.completions.create({ messages, max_tokens: 12, seed: 5 });
    expect(choices[0]?.message.content).not.toBe(choices[1]?.message.content);
    expect(again.choices[0]?.message.content).toBe(choices[1]?.message.content);
  });

  test('an answer is what a schema says, also of a model that knows no JSON', async () => {
    const schema = {
      type: 'object',
      properties: {
        who: { enum: ['Mia', 'Tom'] },
        where: { type: 'string', maxLength: 6 },
        times: { type: 'integer', minimum: 0, maximum: 20 },
      },
      required: ['who', 'where', 'times'],
    };
    for (const seed of [1, 2, 3]) {
      const { choices } = await model.chat.completions.create({
        messages,
        seed,
        response_format: { type: 'json_schema', json_schema: { schema } },
      });
      const [choice] = choices;
      const value = JSON.parse(choice?.message.content ?? '') as Record<string, unknown>;
      expect(choice?.finish_reason).toBe('stop');
      expect(Object.keys(value)).toEqual(['who', 'where', 'times']);
      expect(['Mia', 'Tom']).toContain(value['who']);
      expect(Array.from(String(value['where'])).length).toBeLessThanOrEqual(6);
      expect(Number(value['times'])).toBeLessThanOrEqual(20);
    }
  });

  test('a regular expression', async () => {
    const format = { type: 'regex', regex: '(yes|no), [0-9]{3}' } as const;
    const answer = await model.chat.completions.create({
      messages,
      seed: 1,
      response_format: format,
    });
    expect(answer.choices[0]?.message.content).toMatch(/^(yes|no), \d{3}$/);
  });

  test('refuses what it cannot do', async () => {
    const { completions } = model.chat;
    await expect(completions.create({ messages: [] })).rejects.toThrow(UsageError);
    await expect(completions.create({ messages, n: 2, stream: true })).rejects.toThrow(
      UnsupportedError,
    );
    await expect(completions.create({ messages, temperature: -1 })).rejects.toThrow(
      'temperature: got -1, expected 0 to 100',
    );
    const wrong = { type: 'xml' } as never;
    await expect(completions.create({ messages, response_format: wrong })).rejects.toThrow('"xml"');
  });
});

test.each<[string, unknown, string]>([
  [
    'temprature',
    1,
    'chat.completions.create: got an unknown option "temprature", expected only messages',
  ],
  ['temprature', 1, 'Did you mean temperature?'],
  [
    'top_logprobs',
    2,
    'chat.completions.create, top_logprobs: got 2, expected nothing: Weft does not have this field.',
  ],
  ['best_of', 2, 'best_of: got 2'],
  [
    'tool_choice',
    'required',
    'chat.completions.create, tool_choice: got "required", expected "auto" or "none".',
  ],
  [
    'tool_choice',
    { type: 'function', function: { name: 'f' } },
    'tool_choice: got {"type":"function"',
  ],
  [
    'tool_choice',
    'nonsense',
    'chat.completions.create: got tool_choice "nonsense", expected "auto" or "none".',
  ],
  ['stream_options', { usage: true }, 'stream_options: got an unknown option "usage"'],
  ['messages', 'hello', 'chat.completions.create: got messages "hello", expected a list.'],
  [
    'messages',
    [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }],
    'content of a message: got a part of type "image_url", expected text.',
  ],
  ['messages', [{ role: 'user' }], 'messages[0]: got {"role":"user"}, expected one or more'],
  ['messages', [{ role: 'usr', content: 'a' }], 'got the role "usr", expected one of system,'],
  ['messages', [{ role: 'assistant', tool_calls: [{}] }], 'messages[0]: got {"role":"assistant"'],
  ['tools', [{ name: 'f' }], "expected a list, each { type: 'function', function: { name, … } }"],
  ['response_format', { type: 'json_schema' }, 'response_format: got json_schema undefined'],
  ['response_format', { type: 'regex', regexp: 'a' }, 'Did you mean regex?'],
  [
    'chat_template_kwargs',
    { enable_thinkin: false },
    'chat_template.jinja, templateOptions: got "enable_thinkin", expected the name of a variable',
  ],
])('a request with %s %j is refused', async (name, value, message) => {
  const request = { messages, ...greedy, [name]: value } as never;
  await expect(model.chat.completions.create(request)).rejects.toThrow(message);
});

test('null is absent, and the messages of chat are checked as well', async () => {
  const request = { messages, temperature: 0, max_tokens: 2, best_of: null, stop: null };
  expect((await model.chat.completions.create(request)).choices).toHaveLength(1);
  expect(() => model.chat('hello' as never)).toThrow(
    'messages: got "hello", expected one or more messages',
  );
  expect(() => model.chat(messages, { temprature: 1 } as never)).toThrow(
    'Did you mean temperature?',
  );
});

describe('calls of tools', () => {
  const names = new Set(['weather']);
  const call = '{"name": "weather", "arguments": {"city": "Bern"}}';
  const expected = {
    id: 'call_0',
    type: 'function',
    function: { name: 'weather', arguments: '{"city":"Bern"}' },
  };

  test('in tags, beside text', () => {
    const parsed = parseToolCalls(`Let me see. <tool_call>\n${call}\n</tool_call>`, names);
    expect(parsed).toEqual({ content: 'Let me see.', calls: [expected] });
  });

  test('as the whole text', () => {
    const llama = '<|python_tag|>{"name": "weather", "parameters": {"city": "Bern"}}';
    expect(parseToolCalls(llama, names)).toEqual({ content: '', calls: [expected] });
  });

  test('of functions that there are not, or no JSON, stay text', () => {
    for (const text of [
      '<tool_call>{"name": "shell"}</tool_call>',
      '<tool_call>{</tool_call>',
      '{"name": 1}',
      'null',
    ]) {
      expect(parseToolCalls(text, names)).toEqual({ content: text, calls: [] });
    }
  });
});

test('a constraint that no token meets is an error, after which the model still works', async () => {
  const never = { mask: (into: Uint32Array) => into.fill(0), accept: () => false };
  const text = model.generate([5, 6], { constraint: never }).text();
  await expect(text).rejects.toThrow(
    'text generation, position 2: got a constraint that no token of the model meets',
  );
  expect(await model.generate([5, 6], { temperature: 0, maxTokens: 3 }).text()).not.toBe('');
});
