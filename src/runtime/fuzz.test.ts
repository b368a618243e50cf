import { expect, test } from 'vitest';
import { ExecBuilder, type Executable, type FunctionBuilder } from '../bytecode/index.ts';
import { BUILTINS } from '../bytecode/builtins.ts';
import type { BuiltinSignature } from '../bytecode/builtins.ts';
import type { OperandLike } from '../bytecode/build/function-builder.ts';
import { VerifyError, WeftError } from '../core/errors.ts';
import { HostTensor } from '../core/tensor/host-tensor.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { seededRandom } from '../core/random.ts';
import { VirtualMachine } from './virtual-machine.ts';

const PROGRAM_COUNT = 600;
const FUNCTION_NAMES = ['f0', 'f1', 'f2'];
const KERNEL = 'kernel';

type Random = (limit: number) => number;
type Register = ReturnType<FunctionBuilder['fresh']>;

interface Scope {
  readonly b: ExecBuilder;
  readonly f: FunctionBuilder;
  readonly random: Random;
  readonly shapeProgram: number;
  /** Registers by the kind of value that they hold at first; calls may put anything into them. */
  readonly registers: Readonly<Record<string, Register>>;
}

/** A program of random calls, branches and loops; most operands suit what they are given to. */
function randomProgram(random: Random): Executable {
  const b = new ExecBuilder();
  const type = { dtype: 'float32', shape: ['n'] } as const;
  const body = [{ op: 'relu', inputs: [0], attributes: {} }];
  b.primitive({ name: KERNEL, params: [type], body, results: [{ value: 1, type }] });
  const shapeProgram = b.shapeProgram([
    { op: 'load', slot: 0 },
    { op: 'load', slot: 1 },
    { op: 'floordiv' },
    { op: 'store', slot: 2 },
  ]);
  for (const name of FUNCTION_NAMES) {
    const f = b.function(name, ['a', 'b']);
    emitFunction({ b, f, random, shapeProgram, registers: firstRegisters(b, f, random) });
  }
  return b.build();
}

function firstRegisters(b: ExecBuilder, f: FunctionBuilder, random: Random) {
  const storage = f.call('vm.builtin.alloc_storage', [256 + random(2000), random(2)]);
  const shape = f.call('vm.builtin.shape_of', [b.tensor(HostTensor.zeros('float32', [2]))]);
  const dtype = b.dtype(random(12) > 0 ? 'float32' : 'bool');
  const tensor = f.call('vm.builtin.alloc_tensor', [storage, 0, shape, dtype]);
  const closure = f.call('vm.builtin.make_closure', [b.functionReference('f0'), random(3)]);
  return {
    heap: f.call('vm.builtin.alloc_shape_heap', [3]),
    adt: f.call('vm.builtin.make_adt', [random(3), tensor, 7]),
    int: f.call('vm.builtin.int_add', [random(5), -2]),
    float: f.call('vm.builtin.float_add', [b.float(0.5), b.float(random(3))]),
    storage,
    shape,
    tensor,
    closure,
    value: f.param('a'),
  };
}

function emitFunction(scope: Scope): void {
  const { f, random, registers } = scope;
  const labels = [f.label(), f.label(), f.label()];
  const length = 3 + random(8);
  for (let i = 0; i < length; i++) {
    const label = labels[i - 1];
    if (label !== undefined) f.place(label);
    const target = labels[random(3)] ?? f.label();
    const kind = random(14);
    if (kind < 2) f.if(registers[kind === 0 ? 'value' : 'int'] as Register, target);
    else if (kind === 2) f.call(KERNEL, [operand(scope, 'tensor'), registers.tensor as Register]);
    else if (kind === 3) {
      const callee = FUNCTION_NAMES[random(3)] ?? 'f0';
      const into = registers.value as Register;
      f.call(callee, [operand(scope, 'int'), operand(scope, 'tensor')], { into });
    } else emitBuiltin(scope);
  }
  if (random(8) === 0) f.goto(labels[random(3)] ?? f.label());
  else f.ret(operand(scope, 'value'));
}

function emitBuiltin(scope: Scope): void {
  const { f, random, registers } = scope;
  const isRare = (name: string) => /^(fatal|assert|match|check|reshape|tuple_get)/.test(name);
  const names = Object.keys(BUILTINS).filter((name) => !isRare(name) || random(8) === 0);
  const name = names[random(names.length)] as keyof typeof BUILTINS;
  const signature: BuiltinSignature = BUILTINS[name];
  if (signature.result === 'heap') return;
  const operandOf = ({ type }: BuiltinSignature['params'][number]): OperandLike[] => {
    const types = typeof type === 'string' ? [type] : type;
    const chosen = types[random(types.length)] ?? 'value';
    if (chosen === 'match-pairs') return [random(4), random(3)];
    if (chosen === 'make-pairs') return [random(2), random(3)];
    return [operand(scope, chosen)];
  };
  const args = signature.params.flatMap(operandOf);
  const { rest } = signature;
  if (rest !== undefined) for (let i = random(3); i > 0; i--) args.push(...operandOf(rest));
  const kind = random(12) === 0 ? 'value' : signature.result;
  const into = signature.result === 'void' ? f.void : (registers[kind] as Register);
  f.call(`vm.builtin.${name}`, args, { into });
}

/** Something of the kind; now and then a register that holds another. */
function operand({ b, f, random, shapeProgram, registers }: Scope, kind: string): OperandLike {
  const immediates: Readonly<Record<string, () => OperandLike>> = {
    slot: () => random(3),
    program: () => shapeProgram,
    count: () => 1,
    rank: () => random(3) - 1,
    device: () => random(2),
    void: () => f.void,
    string: () => b.string('text'),
    dtype: () => b.dtype(random(2) === 0 ? 'float32' : 'int8'),
    function: () => b.functionReference(FUNCTION_NAMES[random(3)] ?? 'f0'),
    heap: () => registers.heap as Register,
  };
  const immediate = immediates[kind];
  if (immediate !== undefined) return immediate();
  const others = Object.keys(registers);
  const confused = random(60) === 0 ? others[random(others.length)] : kind;
  if (kind === 'int' && random(2) === 0) return random(6) - 1;
  if (kind === 'shape' && random(2) === 0) return b.shape([random(3), 2]);
  return registers[confused ?? kind] as Register;
}

/** The first error of a chain of causes that is not one of Weft's own. */
function foreignCause(error: unknown): unknown {
  if (!(error instanceof WeftError)) return error;
  return error.cause === undefined ? undefined : foreignCause(error.cause);
}

test(`${PROGRAM_COUNT} random programs run or fail with typed errors, and leave nothing`, async () => {
  const device = createHostDevice();
  const limits = { instructions: 300, callDepth: 40 };
  const counts = { refused: 0, failed: 0, finished: 0 };
  for (let seed = 0; seed < PROGRAM_COUNT; seed++) {
    const next = seededRandom(seed);
    const random: Random = (limit) => Math.floor(next() * limit);
    let executable: Executable;
    try {
      executable = randomProgram(random);
    } catch (error) {
      expect(error, `seed ${seed}`).toBeInstanceOf(VerifyError);
      counts.refused++;
      continue;
    }
    const options = { devices: [device], limits, log: () => undefined, byteBudget: 2 ** 20 };
    const vm = await VirtualMachine.create(executable, options);
    for (const name of FUNCTION_NAMES) {
      const inputs = [random(4), HostTensor.zeros('float32', [random(3)])];
      try {
        vm.release(await vm.invoke(name, inputs));
        counts.finished++;
      } catch (error) {
        expect(foreignCause(error), `seed ${seed}`).toBe(undefined);
        expect(String(error), `seed ${seed}`).not.toContain('internal:');
        counts.failed++;
      }
      expect(vm.memory().liveBytes, `seed ${seed}`).toBe(0);
    }
    vm.dispose();
    expect(device.counters().bytesLive, `seed ${seed}`).toBe(0);
  }
  expect(counts.finished).toBeGreaterThan(PROGRAM_COUNT / 8);
  expect(counts.failed).toBeGreaterThan(PROGRAM_COUNT / 8);
});
