import { expect, test } from 'vitest';
import { Executable } from '../bytecode/file/executable-file.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import type { HostFunction } from '../runtime/link/host-function.ts';
import { AdtValue, FloatValue, TensorValue, type Value } from '../runtime/values/value.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { compile } from './compile.ts';
import { parseModule } from './ir/text/parse.ts';
import { printModule } from './ir/text/print.ts';
import { equalModules } from './ir/walk/structural-equal.ts';
import { moduleFromJson, moduleToJson } from './ir/json/json.ts';

type Functions = (vm: () => VirtualMachine) => Readonly<Record<string, HostFunction>>;

interface Run {
  readonly vm: VirtualMachine;
  readonly result: Value;
  readonly log: readonly string[];
}

async function run(
  text: string,
  args: readonly (HostTensor | number)[],
  functions: Functions = () => ({}),
): Promise<Run> {
  const module = parseModule(text);
  expect(equalModules(parseModule(printModule(module, { data: 'full' })), module)).toBe(true);
  expect(equalModules(moduleFromJson(moduleToJson(module)), module)).toBe(true);
  const executable = compile(module);
  const again = Executable.fromBytes(executable.toBytes());
  expect(again.types).toEqual(executable.types);
  expect(Executable.fromText(executable.toText()).types).toEqual(executable.types);
  const log: string[] = [];
  let made: VirtualMachine | undefined;
  const vm = await VirtualMachine.create(again, {
    devices: [createHostDevice()],
    log: (line) => log.push(line),
    functions: functions(() => made as VirtualMachine),
  });
  made = vm;
  return { vm, result: await vm.invoke('main', args), log };
}

async function contents(vm: VirtualMachine, value: Value): Promise<unknown> {
  if (value instanceof TensorValue)
    return [...((await vm.read([value]))[0]?.data ?? [])].map(Number);
  if (value instanceof FloatValue) return value.value;
  if (!(value instanceof AdtValue)) return value;
  return Promise.all(value.fields.map((field) => contents(vm, field)));
}

const x = HostTensor.from('float32', [3], [1, -2, 3]);

test('calls JavaScript, whose results have the declared type', async () => {
  const { vm, result } = await run(
    `extern def @"my.scale"(%x: Tensor[(n,), float32], %by: float) -> Tensor[(n,), float32]
     extern def @positive(%x: Tensor[(n,), float32]) -> Tensor[(?,), float32]
     def @main(%x: Tensor[(n,), float32]) {
       %y = @positive(@"my.scale"(relu(neg(%x)), #2.0));
       add(%y, %y)
     }`,
    [x],
    (vm) => ({
      'my.scale': async (tensor: TensorValue, by: FloatValue) => {
        const [host] = await vm().read([tensor]);
        return HostTensor.from(
          'float32',
          [3],
          [...(host?.data ?? [])].map((v) => Number(v) * by.value),
        );
      },
      positive: async (tensor: TensorValue) => {
        const [host] = await vm().read([tensor]);
        const kept = [...(host?.data ?? [])].map(Number).filter((v) => v > 0);
        return HostTensor.from('float32', [kept.length], kept);
      },
    }),
  );
  expect(await contents(vm, result)).toEqual([8]);
});

test('what JavaScript gives for another type is refused', async () => {
  const text = `extern def @f(%x: Tensor[(n,), float32]) -> (Tensor[(n,), float32], int)
    def @main(%x: Tensor[(n,), float32]) { @f(%x).0 }`;
  const messageOf = (give: HostFunction): Promise<string> =>
    run(text, [x], () => ({ f: give })).then(
      () => 'accepted',
      (error: unknown) => String(error).split('\n')[0] ?? '',
    );
  expect(await messageOf((tensor) => [tensor, 1])).toBe('accepted');
  expect(await messageOf((tensor) => [tensor])).toMatchInlineSnapshot(
    `"RuntimeError: ir:2:44, declared at ir:1:12: result of f: got an array of 1, expected (Tensor[(n,), float32], int)."`,
  );
  expect(await messageOf((tensor) => [tensor, 0.5])).toMatchInlineSnapshot(
    `"RuntimeError: ir:2:44, declared at ir:1:12: result of f: got float 0.5, expected int."`,
  );
  expect(await messageOf(() => [HostTensor.zeros('float32', [2]), 1])).toMatchInlineSnapshot(
    `"RuntimeError: ir:2:44, declared at ir:1:12: result of f: got float32 tensor (2,), expected Tensor[(n,), float32] where n is 3."`,
  );
  expect(await messageOf(() => [HostTensor.zeros('int32', [3]), 1])).toMatchInlineSnapshot(
    `"RuntimeError: ir:2:44, declared at ir:1:12: result of f: got int32 tensor (3,), expected Tensor[(n,), float32] where n is 3."`,
  );
  expect(await messageOf(() => undefined)).toMatchInlineSnapshot(
    `"RuntimeError: ir:2:44, declared at ir:1:12: result of f: got nothing, expected (Tensor[(n,), float32], int)."`,
  );
});

test('functions that are missing come in one error before anything runs', async () => {
  const text = `extern def @a(%k: int) -> int
    extern def @b(%k: int) -> int
    def @main(%k: int) { (@a(%k), @b(%k)) }`;
  await expect(run(text, [1])).rejects.toThrow('no definition of a (packed), b (packed)');
});

test('data crosses the border by the names of constructors', async () => {
  const { vm, result } = await run(
    `extern def @reversed(%list: List[Tensor[(?,), float32]]) -> List[Tensor[(?,), float32]]
     extern def @count(%n: int) -> List[int]
     def @sum(%list: List[int], %s: int) -> int {
       match (%list) { Cons(%x, %rest) => @sum(%rest, int_add(%s, %x)), Nil => %s }
     }
     def @main(%x: Tensor[(n,), float32]) {
       let %list: List[Tensor[(?,), float32]] = Cons(%x, Cons(concat(%x, %x, axis=0), Nil));
       let %first: Tensor[(k,), float32] = match? (@reversed(%list)) { Cons(%e, _) => %e };
       (%first, @sum(@count(#100000), #0))
     }`,
    [x],
    () => ({
      reversed: (list: AdtValue) => {
        const items: Value[] = [];
        for (let rest: Value = list; rest instanceof AdtValue && rest.fields.length > 0; ) {
          items.push(rest.fields[0] ?? null);
          rest = rest.fields[1] ?? null;
        }
        return items.reduce<HostList>(
          (tail, item) => ({ constructor: 'Cons', fields: [item, tail] }),
          { constructor: 'Nil', fields: [] },
        );
      },
      count: (n: number) => {
        let list: HostList = { constructor: 'Nil', fields: [] };
        for (let i = 0; i < n; i++) list = { constructor: 'Cons', fields: [1, list] };
        return list;
      },
    }),
  );
  expect(await contents(vm, result)).toEqual([[1, -2, 3, 1, -2, 3], 100_000]);
});

interface HostList {
  readonly constructor: string;
  readonly fields: readonly (Value | HostList)[];
}

test('effects happen where lets stand, once each and in their order', async () => {
  const notes: number[] = [];
  const { log } = await run(
    `extern def @note(%k: int) -> int
     def @twice(%k: int) -> int { let %a = @note(%k); let %b = @note(%k); int_add(%a, %b) }
     def @main(%x: Tensor[(n,), float32], %k: int) {
       let %u = print(%x, message="x is");
       let %first = @twice(%k);
       let %second = @twice(%k);
       let %unused = @note(#7);
       let %v = assert(int_lt(%k, #10), message="k is below 10");
       let %w = print(%first, #0.5);
       if (int_lt(%k, #0)) { let %z = print(#1); %second } else { %second }
     }`,
    [x, 4],
    () => ({
      note: (k: number) => {
        notes.push(k);
        return k;
      },
    }),
  );
  expect(log).toEqual(['x is float32 (3,) [1, -2, 3]', '8 0.5']);
  expect(notes).toEqual([4, 4, 4, 4, 7]);
});

test('assert names its message', async () => {
  const text = `def @main(%x: Tensor[(n,), float32]) {
    let %u = assert(less(reduce_max(%x, axes=[0], keepdims=false), 3f), message="all below 3");
    %x }`;
  await expect(run(text, [x])).rejects.toThrow('assertion failed: all below 3');
  await expect(run(text, [HostTensor.zeros('float32', [2])])).resolves.toBeDefined();
});

test('numbers of the host become data, indices and dimensions', async () => {
  const { vm, result } = await run(
    `def @main(%x: Tensor[(n,), float32], %k: int) {
       let %s: Tensor[(0, m, l), int32] = sizes_of(%k, int_add(%k, #1));
       %rate = float_mul(float_from_int(%k), float_pow(#0.5, #2.0));
       %at = reshape(tensor_of(%k, dtype="int64"), shape=[]);
       (full(shape=[m, l], value=3), mul(%x, reshape(tensor_of(%rate, dtype="float32"), shape=[])),
        gather(%x, %at, axis=0), int_from_float(float_div(#-7.0, #2.0)), float_lt(%rate, #inf), #0.25,
        tensor_of(#1.7, #-1.7, %k, dtype="int8"))
     }`,
    [x, 2],
  );
  expect(await contents(vm, result)).toEqual([
    [3, 3, 3, 3, 3, 3],
    [0.5, -1, 1.5],
    [3],
    -4,
    1,
    0.25,
    [1, -1, 2],
  ]);
});

test('functions of JavaScript are no entries, and a module may have nothing else', () => {
  const externs = 'extern def @f(%x: int) -> int\nextern def @g(%l: List[int]) -> List[int]\n';
  const entries = (text: string): readonly string[] =>
    compile(parseModule(text), { verify: true }).functions.flatMap(({ name, signature }) =>
      signature === undefined ? [] : [name],
    );
  expect(entries(externs)).toEqual([]);
  expect(entries(`${externs}def @main(%x: int) { @f(%x) }`)).toEqual(['main']);
  expect(entries('')).toEqual([]);
  expect(entries('type A { X(int), Y }')).toEqual([]);
});
