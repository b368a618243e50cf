import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, expect, test } from 'vitest';
import { compile, parseModule } from '../compiler/index.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { openConnection } from '../rpc/testing/open-connection.ts';
import { pageObjectsOf } from './values/page-objects.ts';
import {
  type LoadOptions,
  OpaqueValue,
  type OutputValue,
  type ProgramFunction,
  Session,
} from './index.ts';

const opened: Session[] = [];
afterEach(async () => {
  for (const session of opened.splice(0)) await session.dispose();
});

async function load(text: string, options: LoadOptions = {}): Promise<Session> {
  const bytes = compile(parseModule(text, { file: 'a.ir' }), { verify: true }).toBytes();
  const session = await Session.load(bytes, { device: 'host', ...options });
  opened.push(session);
  return session;
}

const shelf = (...books: readonly number[]) => new OpaqueValue('shelf', books);

const count = (store: OutputValue | undefined, least: OutputValue | undefined): number => {
  if (!(store instanceof OpaqueValue && Array.isArray(store.value))) throw new Error('no shelf');
  return store.value.filter((book) => book >= Number(least)).length;
};

const COUNT = 'extern def @count(%store: Opaque[shelf], %least: int) -> int\n';

test('a function of the page gives an object, another one takes it', async () => {
  const store = shelf(1, 2, 3);
  const seen: OutputValue[] = [];
  const session = await load(
    `${COUNT}extern def @open(%key: int) -> Opaque[shelf]
     def @main(%key: int) {
       let %store = @open(%key);
       (@count(%store, #2), @count(%store, #3))
     }`,
    {
      functions: {
        open: () => store,
        count: (given, least) => {
          seen.push(given);
          return count(given, least);
        },
      },
    },
  );
  expect(await session.run<OutputValue>({ key: 7 })).toEqual({ result0: 2, result1: 1 });
  expect(seen.every((given) => given === store)).toBe(true);
});

test('objects are inputs and results, in tuples and data, and captured', async () => {
  const session = await load(
    `${COUNT}def @main(%store: Opaque[shelf], %all: List[(int, Opaque[shelf])]) {
       let %least = fn (%k: int) { @count(%store, %k) };
       (%store, @reverse(%all), @map(fn (%p: (int, Opaque[shelf])) { @count(%p.1, %p.0) }, %all), %least)
     }`,
    { functions: { count } },
  );
  const [a, b] = [shelf(1, 2), shelf(5, 6, 7)];
  const cons = (head: unknown, tail: unknown) => ({ constructor: 'Cons', fields: [head, tail] });
  const nil = { constructor: 'Nil', fields: [] };
  const all = cons([2, a], cons([6, b], nil)) as never;
  const { result0, result1, result2, result3 } = await session.run<OutputValue>({ store: a, all });
  expect(result0).toBe(a);
  expect(result1).toEqual(cons([6, b], cons([2, a], nil)));
  expect(result2).toEqual(cons(1, cons(2, nil)));
  const least = result3 as ProgramFunction;
  expect(await least(1)).toBe(2);
  least.dispose();
});

test('a function of the program takes and gives objects', async () => {
  const session = await load(`def @main(%k: int) { fn (%store: Opaque[shelf]) { (%store, %k) } }`);
  const { result } = await session.run<OutputValue>({ k: 4 });
  const store = shelf(1);
  expect(await (result as ProgramFunction)(store)).toEqual([store, 4]);
});

test('another name is refused where it enters, and so is an object that is no OpaqueValue', async () => {
  const session = await load(
    `extern def @open(%key: int) -> Opaque[shelf]
     def @main(%store: Opaque[shelf], %key: int) { let %other = @open(%key); %store }`,
    {
      functions: { open: (key) => (key === 0 ? new OpaqueValue('book', 1) : (new Map() as never)) },
    },
  );
  const book = new OpaqueValue('book', 1);
  await expect(session.run({ store: book, key: 0 })).rejects.toThrow(
    'main, parameter store: got opaque book, expected Opaque[shelf].',
  );
  await expect(session.run({ store: shelf(), key: 0 })).rejects.toThrow(
    'a.ir:2:65, declared at a.ir:1:12: result of open: got opaque book, expected Opaque[shelf].',
  );
  await expect(session.run({ store: shelf(), key: 1 })).rejects.toThrow(
    'result of open: got the object Map, expected a Tensor, a DeviceTensor, a number, an array, { constructor, fields }, a function or an OpaqueValue.',
  );
  await expect(session.run({ store: new Map() as never, key: 1 })).rejects.toThrow(
    'input "store": got Map, expected a Tensor',
  );
});

test('a snapshot of a call that holds an object is refused by its name', async () => {
  const session = await load(
    `extern def @wait(%store: Opaque[shelf]) -> int
     def @main(%store: Opaque[shelf]) { int_add(@wait(%store), @wait(%store)) }`,
    { functions: { wait: () => 1 } },
  );
  const paused = session.pause({ at: { function: 'main', instruction: 1 } });
  const running = session.run<OutputValue>({ store: shelf() });
  await paused;
  await expect(session.snapshot()).rejects.toThrow(
    'snapshot: got a call that holds the opaque value "shelf", expected values that can be stored.',
  );
  await session.continue();
  expect(await running).toEqual({ result: 2 });
});

test('a remote session refuses an object by its name', async () => {
  const { remote } = await openConnection({ devices: [createHostDevice()] });
  const text = `extern def @open(%key: int) -> Opaque[shelf]
    def @main(%key: int) { let %store = @open(%key); %key }
    def @same(%store: Opaque[shelf]) { %store }`;
  const session = await load(text, { remote, device: 'auto', functions: { open: () => shelf() } });
  await expect(session.run({ store: shelf() }, { function: 'same' })).rejects.toThrow(
    'remote session: got the opaque value "shelf", expected a number, string, shape, tensor, function, tuple or data. An object stays on its side: send a key of it.',
  );
  await expect(session.run({ key: 1 })).rejects.toThrow('got the opaque value "shelf"');
});

test('the page holds no object that no program holds', async () => {
  const session = await load(`${COUNT}def @main(%store: Opaque[shelf]) { @count(%store, #0) }`, {
    functions: { count },
  });
  setFlagsFromString('--expose_gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < 20; i++) await session.run<OutputValue>({ store: shelf(i) });
  const objects = pageObjectsOf(session);
  expect(objects.size).toBeGreaterThan(0);
  const left = () => {
    collect();
    return objects.size;
  };
  await expect.poll(left).toBe(0);
});
