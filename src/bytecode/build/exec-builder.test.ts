import { describe, expect, test } from 'vitest';
import { UsageError, VerifyError } from '../../core/errors.ts';
import { HostTensor } from '../../core/tensor/host-tensor.ts';
import { ExecBuilder } from './exec-builder.ts';
import { Executable } from '../file/executable-file.ts';
import { MAX_IMMEDIATE, MIN_IMMEDIATE } from '../isa.ts';

const relu = {
  name: 'relu_kernel',
  params: [{ dtype: 'float32', shape: [4] }],
  body: [{ op: 'relu', inputs: [0], attributes: {} }],
  results: [{ value: 1, type: { dtype: 'float32', shape: [4] } }],
} as const;

describe('ExecBuilder', () => {
  test('builds the example of its documentation', () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['x']);
    const y = f.call('test.add', [f.param('x'), 1]);
    f.ret(y);
    const executable = b.build();
    expect(executable.functionTable).toEqual([{ kind: 'packed', name: 'test.add' }]);
    expect([...executable.code]).toEqual([1, 1, 0x3000_0000, 2, 0, 0x1000_0001, 2, 1]);
    expect(b.warnings).toEqual([]);
  });

  test('renumbers registers in order of use', () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['x', 'y']);
    f.call('test.add', [f.param('y'), f.param('x')], { into: f.r(10000) });
    f.call('test.mul', [f.r(10000), f.param('x')], { into: f.r(50) });
    f.ret(f.r(50));
    const executable = b.build();
    expect(executable.functions[0]?.registerCount).toBe(4);
    expect(executable.toText().split('\n').slice(3, 6)).toEqual([
      '  0: %2 = call test.add(%1, %0)',
      '  1: %3 = call test.mul(%2, %0)',
      '  2: ret %3',
    ]);
  });

  test('gives equal executables for programs that differ in numbers only', () => {
    const build = (register: number, unused: boolean): Uint8Array => {
      const b = new ExecBuilder();
      if (unused) b.string('never used');
      if (unused) b.functionReference('never.called');
      const f = b.function('main', ['x']);
      f.call('f', [f.param('x'), b.float(1), b.float(2)], { into: f.r(register) });
      f.ret(f.r(register));
      return b.build().toBytes();
    };
    expect(build(77, true)).toEqual(build(5, false));
  });

  test('resolves names of functions that come later, of primitives and of packed functions', () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['x']);
    const y = f.call('later', [f.param('x')]);
    const kernel = b.primitive(relu);
    expect(f.call(kernel, [f.param('x'), y])).toEqual(f.void);
    f.call('user.log', [f.vm, b.functionReference('later')], { into: f.void });
    f.ret(y);
    const later = b.function('later', ['x']);
    later.ret(later.param('x'));
    expect(b.build().functionTable).toEqual([
      { kind: 'bytecode', name: 'later' },
      { kind: 'primitive', name: 'relu_kernel' },
      { kind: 'packed', name: 'user.log' },
    ]);
  });

  test('keeps one of equal constants, and tells unequal ones apart', () => {
    const b = new ExecBuilder();
    const tensor = (values: number[], shape = [values.length]): HostTensor =>
      HostTensor.from('float32', shape, values);
    expect(b.tensor(tensor([1, 2]))).toEqual(b.tensor(tensor([1, 2])));
    expect(b.shape([2, 3])).toEqual(b.shape([2, 3]));
    expect(b.float(Number.NaN)).toEqual(b.float(Number.NaN));
    const distinct = [
      b.tensor(tensor([1, 2])),
      b.tensor(tensor([1, 2], [2, 1])),
      b.tensor(tensor([0, 0])),
      b.tensor(tensor([-0, 0])),
      b.tensor(HostTensor.splat('float32', [2], 0)),
      b.tensor(HostTensor.from('int32', [2], [0, 0])),
      b.shape([2, 3]),
      b.shape([]),
      b.string('2,3'),
      b.string('1'),
      b.int(1),
      b.float(1),
      b.float(0),
      b.float(-0),
      b.string('float32'),
      b.dtype('float32'),
    ];
    expect(new Set(distinct.map(({ value }) => value)).size).toBe(distinct.length);
  });

  test('merges tensors whose sampled bytes agree only when all bytes do', () => {
    const b = new ExecBuilder();
    const one = new Uint8Array(200_000);
    const other = one.slice();
    other[1] = 1;
    const a = b.tensor(new HostTensor('uint8', [one.length], one));
    expect(b.tensor(new HostTensor('uint8', [one.length], other))).not.toEqual(a);
    expect(b.tensor(new HostTensor('uint8', [one.length], one.slice()))).toEqual(a);
  });

  test('puts wide immediates into the constants', () => {
    const b = new ExecBuilder();
    const f = b.function('main');
    expect(f.imm(MAX_IMMEDIATE)).toEqual({ kind: 'immediate', value: MAX_IMMEDIATE });
    expect(f.imm(MIN_IMMEDIATE)).toEqual({ kind: 'immediate', value: MIN_IMMEDIATE });
    expect(f.imm(-0)).toEqual({ kind: 'immediate', value: 0 });
    f.ret(f.call('f', [MIN_IMMEDIATE, MAX_IMMEDIATE, MAX_IMMEDIATE + 1, MIN_IMMEDIATE - 1]));
    const text = b.build().toText();
    expect(text).toContain('call f(-134217728, 134217727, c[0], c[1])');
    expect(text).toContain('c[0] = int 134217728\n  c[1] = int -134217729');
    expect(() => f.imm(0.5)).toThrow(UsageError);
    expect(() => f.imm(0.5)).toThrow('got immediate 0.5, expected a safe integer.');
  });

  test('can go on after a build', () => {
    const b = new ExecBuilder();
    const f = b.function('main', ['x']);
    f.ret(0);
    expect(b.build().functions.length).toBe(1);
    b.function('other').ret(1);
    expect(b.build().functions.length).toBe(2);
    expect(b.warnings).toEqual(['function main: the input x (%0) is never used']);
  });
});

describe('an executable', () => {
  const b = new ExecBuilder();
  b.function('main').ret(b.tensor(HostTensor.from('int8', [3], [1, 2, 3])));
  const executable = b.build();

  test('gives its tensors', () => {
    expect(executable.tensor(0)).toEqual(HostTensor.from('int8', [3], [1, 2, 3]));
    expect(() => executable.tensor(1)).toThrow('constant 1: got no constant, expected a tensor.');
  });

  test('is written in blocks that a reader takes', () => {
    expect(() => executable.toBytes({ blockByteLength: 100 })).toThrow(
      'serialize: got blocks of 100 bytes, expected a multiple of 256 up to 16777216.',
    );
  });

  test('is written with all of its data only', () => {
    const streamed = new Executable(executable, new Uint8Array(0));
    expect(() => streamed.toBytes()).toThrow(
      'serialize: got 0 bytes of data, expected 3. An executable that was streamed does not keep',
    );
  });
});

describe('a function that is wrong', () => {
  const message = (emit: (b: ExecBuilder) => void): string => {
    const b = new ExecBuilder();
    emit(b);
    try {
      b.build();
    } catch (error) {
      if (error instanceof VerifyError) return error.message;
      throw error;
    }
    return 'accepted';
  };

  test('reads a register that was never written', () => {
    const text = message((b) => {
      const f = b.function('main', ['x']);
      f.call('test.add', [f.param('x'), f.param('x')]);
      f.ret(f.call('test.add', [f.param('x'), f.r(7)]));
    });
    expect(text).toMatchInlineSnapshot(
      `"function main, instruction 1 (call test.add): got register %7, which nothing writes, expected a parameter or the result of a call."`,
    );
  });

  test('reads a register that is written on one branch only', () => {
    const text = message((b) => {
      const f = b.function('main', ['x']);
      const end = f.label();
      const y = f.fresh();
      f.if(f.param('x'), end);
      f.call('test.make', [], { into: y });
      f.place(end);
      f.ret(y);
    });
    expect(text).toMatchInlineSnapshot(
      `"function main, instruction 2 at code word 7 (ret): got register %1, which is not written on every path to here, expected a parameter or the result of a call on every path."`,
    );
  });

  test('jumps to a label without a place', () => {
    const text = message((b) => {
      const f = b.function('main');
      f.goto(f.label());
    });
    expect(text).toMatchInlineSnapshot(
      `"function main: got label 0 without a place, expected every label to be placed. Call place(label) before the instruction that the jump goes to."`,
    );
  });

  test('has no end', () => {
    const text = message((b) => {
      b.function('main').call('f');
    });
    expect(text).toContain('(call f): got code that runs past its end');
  });

  test('has no code', () => {
    expect(message((b) => void b.function('main'))).toContain('got code of 0 words');
  });

  test('has the name of another', () => {
    const text = message((b) => {
      for (const _ of [1, 2]) b.function('main').ret(0);
    });
    expect(text).toBe(
      'functions and primitives: got the name "main" twice, expected every name once.',
    );
  });

  test('places a label twice, or asks for what it does not have', () => {
    const f = new ExecBuilder().function('main', ['x']);
    const label = f.label();
    f.place(label);
    expect(() => f.place(label)).toThrow('got a label that was placed before');
    expect(() => f.param('y')).toThrow('function main: got parameter "y", expected one of x.');
    expect(() => f.r(-1)).toThrow('got register -1, expected an integer from 0 to');
    expect(() => f.r(2 ** 31)).toThrow('got register 2147483648');
  });

  test('jumps to a label of another function', () => {
    const b = new ExecBuilder();
    const f = b.function('main');
    const label = b.function('other').label();
    expect(() => f.goto(label)).toThrow('function main: got what is no label of it');
    expect(() => f.place(label)).toThrow('function main: got what is no label of it');
  });
});
