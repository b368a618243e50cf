import { describe, expect, test } from 'vitest';
import type { Dim } from '../../core/dims/dim.ts';
import { VerifyError } from '../../core/errors.ts';
import type { Constant, ExecutableData, FunctionEntry, ShapeStep } from '../executable.ts';
import { encodeArgument, VM_REGISTER, VOID_REGISTER } from '../isa.ts';
import { verifyExecutable } from './verify.ts';

const imm = (value: number): number => encodeArgument('immediate', value);
const fn = (index: number): number => encodeArgument('function', index);
const c = (index: number): number => encodeArgument('constant', index);
const call = (result: number, callee: number, ...args: number[]): number[] => [
  1,
  result,
  fn(callee),
  args.length,
  ...args,
];
const RET_VOID = [2, VOID_REGISTER];

interface Draft extends Partial<Omit<ExecutableData, 'code' | 'functionTable'>> {
  readonly code?: readonly number[];
  readonly table?: readonly string[];
  readonly params?: readonly string[];
  readonly registers?: number;
}

/** A program of one function `main`. */
function program({
  code = RET_VOID,
  table = [],
  params = [],
  registers = 0,
  ...rest
}: Draft): ExecutableData {
  const own = { name: 'main', paramNames: params, registerCount: registers };
  return {
    functions: [{ ...own, codeStart: 0, codeLength: code.length }],
    code: Uint32Array.from(code),
    functionTable: table.map((name): FunctionEntry => {
      if (name === 'main') return { kind: 'bytecode', name };
      return { kind: name.startsWith('kernel') ? 'primitive' : 'packed', name };
    }),
    constants: [],
    primitives: [],
    shapePrograms: [],
    metadata: {},
    dataByteLength: 0,
    ...rest,
  };
}

function message(draft: Draft): string {
  const broken = program(draft);
  try {
    verifyExecutable(broken);
  } catch (error) {
    if (error instanceof VerifyError) return error.message;
    throw error;
  }
  return 'accepted';
}

const heap2 = call(0, 0, imm(2));
const HEAP_TABLE = ['vm.builtin.alloc_shape_heap', 'vm.builtin.load_shape', 'user.f'];
const vector = { dtype: 'float32', shape: ['n', 4] } as const;
const kernel = {
  name: 'kernel',
  params: [vector],
  body: [{ op: 'relu', inputs: [0], attributes: {} }],
  results: [{ value: 1, type: vector }],
};
const tensor = (shape: readonly number[], byteOffset = 0): Constant => {
  const byteLength = shape.reduce((product, dim) => product * dim, 4);
  return { kind: 'tensor', dtype: 'float32', shape, isSplat: false, byteOffset, byteLength };
};

/** Title, program, and a part of the message. */
type Case = [title: string, draft: Draft, part: string];

const CODE: Case[] = [
  ['the empty function is fine', {}, 'accepted'],
  [
    'unknown opcode',
    { code: [9, 0] },
    'code word 0: got opcode 9, expected 1 (call), 2 (ret), 3 (if), 4 (goto).',
  ],
  ['opcode zero', { code: [0] }, 'got opcode 0'],
  [
    'an instruction is cut',
    { code: [1, 0] },
    'got a call of 4 words, expected at most the 2 words that are left',
  ],
  [
    '2^32 - 1 arguments',
    { code: [1, VOID_REGISTER, fn(0), 0xffff_ffff] },
    'got a call of 4294967299 words',
  ],
  [
    'the end can be reached',
    { code: call(VOID_REGISTER, 0), table: ['f'] },
    'function main, instruction 0 at code word 0 (call f): got code that runs past its end, expected a ret or goto',
  ],
  [
    'if at the end',
    { code: [3, 0, 0], params: ['x'], registers: 1 },
    'got code that runs past its end',
  ],
  [
    'a jump before the function',
    { code: [4, -1] },
    'got a jump to code word -1, outside the function, expected the first word of an instruction from 0 to 1',
  ],
  [
    'a jump after the function',
    { code: [4, 2] },
    'got a jump to code word 2, outside the function',
  ],
  [
    'a jump into an instruction',
    { code: [4, 3, 2, VOID_REGISTER] },
    'got a jump to code word 3, inside an instruction',
  ],
  ['a jump to itself is fine', { code: [4, 0] }, 'accepted'],
  [
    'a register beyond the file',
    { code: [2, 5], registers: 1, params: ['x'] },
    '(ret), operand 0 (value): got register %5, expected an argument below 1',
  ],
  [
    'a constant beyond the pool',
    { code: [2, c(0)] },
    'got constant 0, expected an argument below 0',
  ],
  ['a function beyond the table', { code: [2, fn(7)] }, 'got function reference 7'],
  [
    'a callee beyond the table',
    { code: [...call(VOID_REGISTER, 7), ...RET_VOID] },
    'operand 1 (callee): got function reference 7, expected a callee below 0',
  ],
  [
    'a callee that is no function',
    { code: [1, VOID_REGISTER, imm(0), 0, ...RET_VOID], table: ['f'] },
    'operand 1 (callee): got the word 0x10000000, expected a callee',
  ],
  [
    'a result that is no register',
    { code: [1, imm(0), fn(0), 0, ...RET_VOID], table: ['f'] },
    'operand 0 (result): got the word 0x10000000',
  ],
  [
    'an unknown kind of argument',
    { code: [2, 0xf000_0000] },
    'got the word 0xf0000000, expected an argument',
  ],
  [
    'a condition that is no register',
    { code: [3, imm(1), 3, ...RET_VOID] },
    'operand 0 (condition): got the word 0x10000001',
  ],
  [
    '%void as a condition',
    { code: [3, VOID_REGISTER, 3, ...RET_VOID] },
    'operand 0 (condition): got %void',
  ],
  [
    '%vm as a condition',
    { code: [3, VM_REGISTER, 3, ...RET_VOID] },
    'operand 0 (condition): got %vm',
  ],
  [
    '%vm as a result',
    { code: [1, VM_REGISTER, fn(0), 0, ...RET_VOID], table: ['f'] },
    'operand 0 (result): got %vm',
  ],
  ['%vm returned', { code: [2, VM_REGISTER] }, 'operand 0 (value): got %vm'],
  [
    '2^31 registers',
    { registers: 2 ** 31 },
    'function main: got 2147483648 registers, expected from 0, its parameters, to 2, which its code can name.',
  ],
  [
    'fewer registers than parameters',
    { params: ['a', 'b'], registers: 1 },
    'got 1 registers, expected from 2',
  ],
  [
    'a register that nothing names',
    { code: [...call(1, 0), 2, 1], table: ['f'], registers: 2 },
    'got 2 registers, of which the code never names %0, expected registers numbered without gaps',
  ],
];

const FLOW: Case[] = [
  [
    'a register that nothing writes',
    { code: [2, 0], registers: 1 },
    'function main, instruction 0 at code word 0 (ret): got register %0, which nothing writes, expected a parameter or the result of a call.',
  ],
  [
    'read before it is written',
    {
      code: [...call(VOID_REGISTER, 0, 0), ...call(0, 0), ...RET_VOID],
      table: ['f'],
      registers: 1,
    },
    'got register %0, which is not written on every path to here',
  ],
  [
    'written on one branch only',
    { code: [3, 0, 7, ...call(1, 0), 2, 1], table: ['f'], params: ['x'], registers: 2 },
    'instruction 2 at code word 7 (ret): got register %1, which is not written on every path to here',
  ],
  [
    'written on both branches',
    {
      code: [3, 0, 9, ...call(1, 0), 4, 6, ...call(1, 0), 2, 1],
      table: ['f'],
      params: ['x'],
      registers: 2,
    },
    'accepted',
  ],
  [
    'written by the loop after its use',
    {
      code: [...call(VOID_REGISTER, 0, 1), ...call(1, 0), 3, 0, 5, 4, -12, ...RET_VOID],
      table: ['f'],
      params: ['x'],
      registers: 2,
    },
    'instruction 0 at code word 0 (call f): got register %1, which is not written on every path',
  ],
  [
    'written before a loop',
    {
      code: [...call(1, 0), ...call(VOID_REGISTER, 0, 1), 3, 0, 5, 4, -8, ...RET_VOID],
      table: ['f'],
      params: ['x'],
      registers: 2,
    },
    'accepted',
  ],
  [
    'unreachable code reads what an unreachable call writes',
    { code: [...RET_VOID, 2, 0, ...call(0, 0), 4, -6], table: ['f'], registers: 1 },
    'accepted',
  ],
];

const CALLS: Case[] = [
  [
    'arity of a bytecode function',
    {
      code: [...call(VOID_REGISTER, 0, 0), ...RET_VOID],
      table: ['main'],
      params: ['x', 'y'],
      registers: 2,
    },
    '(call main): got 1 arguments, expected 2 (x, y).',
  ],
  [
    '%vm to a bytecode function',
    {
      code: [...call(VOID_REGISTER, 0, VM_REGISTER), ...RET_VOID],
      table: ['main'],
      params: ['x'],
      registers: 1,
    },
    'got %vm as an argument, expected it only where a packed function of the user is called',
  ],
  [
    '%vm to a packed function is fine',
    { code: [...call(VOID_REGISTER, 0, VM_REGISTER), ...RET_VOID], table: ['f'] },
    'accepted',
  ],
  [
    'arity of a primitive',
    {
      code: [...call(VOID_REGISTER, 0, 0), ...RET_VOID],
      table: ['kernel'],
      primitives: [kernel],
      params: ['x'],
      registers: 1,
    },
    '(call kernel): got 1 arguments, expected 1 inputs and then 1 outputs',
  ],
  [
    'a result of a primitive',
    {
      code: [...call(0, 0, 0, 0), ...RET_VOID],
      table: ['kernel'],
      primitives: [kernel],
      params: ['x'],
      registers: 1,
    },
    'got the result register %0, expected %void',
  ],
  [
    'an immediate to a primitive',
    {
      code: [...call(VOID_REGISTER, 0, imm(1), 0), ...RET_VOID],
      table: ['kernel'],
      primitives: [kernel],
      params: ['x'],
      registers: 1,
    },
    'argument 0: got no tensor, expected a register or a constant for the input float32 of rank 2',
  ],
  [
    'a constant of another shape to a primitive',
    {
      code: [...call(VOID_REGISTER, 0, c(0), 0), ...RET_VOID],
      table: ['kernel'],
      primitives: [kernel],
      params: ['x'],
      registers: 1,
      constants: [tensor([2, 3])],
      dataByteLength: 24,
    },
    'argument 0: got a float32 (2, 3) constant',
  ],
  [
    'a constant as the output of a primitive',
    {
      code: [...call(VOID_REGISTER, 0, 0, c(0)), ...RET_VOID],
      table: ['kernel'],
      primitives: [kernel],
      params: ['x'],
      registers: 1,
      constants: [tensor([2, 4])],
      dataByteLength: 32,
    },
    'argument 1: got a float32 (2, 4) constant, expected a register. Outputs are tensors',
  ],
  [
    'a fitting constant to a primitive is fine',
    {
      code: [...call(VOID_REGISTER, 0, c(0), 0), ...RET_VOID],
      table: ['kernel'],
      primitives: [kernel],
      params: ['x'],
      registers: 1,
      constants: [tensor([2, 4])],
      dataByteLength: 32,
    },
    'accepted',
  ],
  [
    'a builtin as a value',
    { code: [2, fn(0)], table: ['vm.builtin.copy'] },
    'got the builtin vm.builtin.copy as a value, expected a bytecode function or a packed function',
  ],
  [
    'a primitive in a closure',
    {
      code: [...call(0, 0, fn(1)), 2, 0],
      table: ['vm.builtin.make_closure', 'kernel'],
      primitives: [kernel],
      registers: 1,
    },
    'got the primitive kernel as a value',
  ],
  [
    'an unknown builtin',
    { table: ['vm.builtin.nope'] },
    'function reference 0: got packed vm.builtin.nope, expected a builtin of this version.',
  ],
  [
    'a builtin named as a property of every object',
    { table: ['vm.builtin.constructor'] },
    'expected a builtin of this version',
  ],
  [
    'too few operands of a builtin',
    { code: [...call(VOID_REGISTER, 0), ...RET_VOID], table: ['vm.builtin.copy'] },
    '(call vm.builtin.copy), operand tensor: got no operand',
  ],
  [
    'too many operands of a builtin',
    { code: [...call(VOID_REGISTER, 0, imm(1)), ...RET_VOID], table: ['vm.builtin.kill'] },
    '(call vm.builtin.kill): got 1 operands, expected 0',
  ],
  [
    'a wrong operand of a builtin',
    { code: [...call(VOID_REGISTER, 0, imm(1)), ...RET_VOID], table: ['vm.builtin.copy'] },
    'operand tensor: got immediate 1, expected a tensor (register, constant).',
  ],
  [
    'a result of a builtin without one',
    {
      code: [...call(0, 0, c(0)), 2, 0],
      table: ['vm.builtin.fatal'],
      constants: [{ kind: 'string', value: 'x' }],
      registers: 1,
    },
    'got the result register %0, expected %void: vm.builtin.fatal returns nothing',
  ],
  [
    'a device that there is not',
    {
      code: [...call(0, 0, imm(1), imm(2)), 2, 0],
      table: ['vm.builtin.alloc_storage'],
      registers: 1,
    },
    'operand device: got immediate 2, expected a device (immediate 0 to 1).',
  ],
  [
    'a negative rank',
    {
      code: [...call(VOID_REGISTER, 0, 0, imm(-2), VOID_REGISTER), ...RET_VOID],
      table: ['vm.builtin.check_shape_info'],
      params: ['x'],
      registers: 1,
    },
    'operand rank: got immediate -2',
  ],
  [
    'a string where a number belongs',
    {
      code: [...call(0, 0, c(0), imm(1)), 2, 0],
      table: ['vm.builtin.int_add'],
      constants: [{ kind: 'string', value: 'x' }],
      registers: 1,
    },
    'operand a: got string constant c[0], expected an int (register, constant, immediate).',
  ],
];

/** Runs a shape program on a heap of two slots. */
function heapForProgram(...program: readonly ShapeStep[]): Draft {
  return {
    code: [...heap2, ...call(VOID_REGISTER, 1, 0, imm(0)), ...RET_VOID],
    table: ['vm.builtin.alloc_shape_heap', 'vm.builtin.compute_shape'],
    registers: 1,
    shapePrograms: [{ steps: program }],
  };
}

const HEAPS: Case[] = [
  [
    'a slot within the heap is fine',
    { code: [...heap2, ...call(1, 1, 0, imm(1)), 2, 1], table: HEAP_TABLE, registers: 2 },
    'accepted',
  ],
  [
    'a slot beyond the heap',
    { code: [...heap2, ...call(1, 1, 0, imm(2)), 2, 1], table: HEAP_TABLE, registers: 2 },
    '(call vm.builtin.load_shape): got slot 2 of the shape heap %0, expected a slot below 2, its size.',
  ],
  [
    'a heap that is a parameter',
    { code: [...call(1, 1, 0, imm(0)), 2, 1], table: HEAP_TABLE, params: ['h'], registers: 2 },
    'got register %0 as a shape heap, expected the result of vm.builtin.alloc_shape_heap in this function, on every path',
  ],
  [
    'a heap that is something else',
    { code: [...call(0, 2), ...call(1, 1, 0, imm(0)), 2, 1], table: HEAP_TABLE, registers: 2 },
    'got register %0 as a shape heap',
  ],
  [
    'a smaller heap on one path',
    {
      code: [
        3,
        0,
        10,
        ...call(1, 0, imm(5)),
        4,
        7,
        ...call(1, 0, imm(1)),
        ...call(2, 1, 1, imm(3)),
        2,
        2,
      ],
      table: HEAP_TABLE,
      params: ['x'],
      registers: 3,
    },
    'got slot 3 of the shape heap %1, expected a slot below 1',
  ],
  [
    'a heap of too many slots',
    { code: [...call(0, 0, imm(2 ** 26)), 2, 0], table: HEAP_TABLE, registers: 1 },
    'got a shape heap of 67108864 slots, expected at most 65536',
  ],
  [
    'the largest heap and its last slot are fine',
    {
      code: [...call(0, 0, imm(2 ** 16)), ...call(1, 1, 0, imm(2 ** 16 - 1)), 2, 1],
      table: HEAP_TABLE,
      registers: 2,
    },
    'accepted',
  ],
  [
    'a heap of one slot too many',
    { code: [...call(0, 0, imm(2 ** 16 + 1)), 2, 0], table: HEAP_TABLE, registers: 1 },
    'got a shape heap of 65537 slots, expected at most 65536',
  ],
  [
    'a program that needs all slots is fine',
    heapForProgram({ op: 'load', slot: 1 }, { op: 'store', slot: 0 }),
    'accepted',
  ],
  [
    'a program that reads one slot too many',
    heapForProgram({ op: 'load', slot: 2 }, { op: 'store', slot: 0 }),
    'got slot 2 of the shape heap %0, expected a slot below 2',
  ],
  [
    'a program that writes one slot too many',
    heapForProgram({ op: 'load', slot: 0 }, { op: 'store', slot: 2 }),
    'got slot 2 of the shape heap %0, expected a slot below 2',
  ],
  [
    'a program that needs more slots',
    {
      code: [...heap2, ...call(VOID_REGISTER, 1, 0, imm(0)), ...RET_VOID],
      table: ['vm.builtin.alloc_shape_heap', 'vm.builtin.compute_shape'],
      registers: 1,
      shapePrograms: [
        {
          steps: [
            { op: 'load', slot: 3 },
            { op: 'store', slot: 0 },
          ],
        },
      ],
    },
    'got slot 3 of the shape heap %0',
  ],
  [
    'a program that there is not',
    {
      code: [...heap2, ...call(VOID_REGISTER, 1, 0, imm(1)), ...RET_VOID],
      table: ['vm.builtin.alloc_shape_heap', 'vm.builtin.compute_shape'],
      registers: 1,
    },
    'operand program: got shape program 1, expected one of 0 shape programs',
  ],
  [
    'too few pairs',
    {
      code: [...heap2, ...call(1, 1, 0, imm(2), imm(0), imm(1)), 2, 1],
      table: ['vm.builtin.alloc_shape_heap', 'vm.builtin.make_shape'],
      registers: 2,
    },
    'operand pairs: got 2 operands, expected 4, two for each of 2 dimensions',
  ],
  [
    '2^27 pairs',
    {
      code: [...heap2, ...call(1, 1, 0, imm(2 ** 27 - 1)), 2, 1],
      table: ['vm.builtin.alloc_shape_heap', 'vm.builtin.make_shape'],
      registers: 2,
    },
    'operand pairs: got 0 operands, expected 268435454',
  ],
  [
    'an unknown code of a pair',
    {
      code: [...heap2, ...call(1, 1, 0, imm(1), imm(2), imm(1)), 2, 1],
      table: ['vm.builtin.alloc_shape_heap', 'vm.builtin.make_shape'],
      registers: 2,
    },
    'operand pairs: got immediate 2, expected a code from 0 to 1',
  ],
  [
    'a pair with a slot beyond the heap',
    {
      code: [...heap2, ...call(1, 1, 0, imm(1), imm(1), imm(9)), 2, 1],
      table: ['vm.builtin.alloc_shape_heap', 'vm.builtin.make_shape'],
      registers: 2,
    },
    'got slot 9 of the shape heap %0',
  ],
  [
    'a negative dimension in a pair',
    {
      code: [...heap2, ...call(1, 1, 0, imm(1), imm(0), imm(-4)), 2, 1],
      table: ['vm.builtin.alloc_shape_heap', 'vm.builtin.make_shape'],
      registers: 2,
    },
    'operand pairs: got immediate -4, expected a dimension: an immediate or int constant from 0 up',
  ],
];

const steps = (...list: ShapeStep[]): Draft => ({ shapePrograms: [{ steps: list }] });
const one: ShapeStep = { op: 'const', value: 1 };
const huge: ShapeStep = { op: 'const', value: Number.MAX_SAFE_INTEGER };

const SHAPE_PROGRAMS: Case[] = [
  [
    'underflow',
    steps(one, { op: 'add' }),
    'shape program 0, step 1 (add): got stack underflow: 1 values, expected at least 2 on the stack.',
  ],
  ['underflow of a store', steps({ op: 'store', slot: 0 }), 'got stack underflow: 0 values'],
  [
    'a deep stack',
    steps(...Array.from({ length: 65 }, () => one)),
    'step 64 (const): got stack overflow, expected at most 64 values',
  ],
  [
    'values left over',
    steps(one),
    'shape program 0: got 1 values left on the stack, expected none at the end.',
  ],
  [
    'arithmetic overflow',
    steps(huge, huge, { op: 'mul' }, { op: 'store', slot: 0 }),
    'step 2 (mul): got 9007199254740991 mul 9007199254740991, expected a divisor other than zero and a result below 2^53',
  ],
  [
    'division by zero',
    steps(
      { op: 'load', slot: 0 },
      { op: 'const', value: 0 },
      { op: 'mod' },
      { op: 'store', slot: 0 },
    ),
    'step 2 (mod): got a slot mod 0',
  ],
  [
    'a slot beyond every heap',
    steps({ op: 'load', slot: 2 ** 31 }),
    'got slot 2147483648, expected 0 to 65535',
  ],
  [
    'the last slot of the largest heap is fine',
    steps({ op: 'load', slot: 65_535 }, { op: 'store', slot: 65_535 }),
    'accepted',
  ],
  [
    'the first slot to load beyond every heap',
    steps({ op: 'load', slot: 65_536 }, { op: 'store', slot: 0 }),
    'shape program 0, step 0 (load): got slot 65536, expected 0 to 65535',
  ],
  [
    'the first slot to store beyond every heap',
    steps(one, { op: 'store', slot: 65_536 }),
    'shape program 0, step 1 (store): got slot 65536, expected 0 to 65535',
  ],
  [
    'the deepest stack is fine',
    steps(
      ...Array.from({ length: 64 }, () => one),
      ...Array.from({ length: 63 }, (): ShapeStep => ({ op: 'add' })),
      { op: 'store', slot: 0 },
    ),
    'accepted',
  ],
];

const CONSTANTS: Case[] = [
  [
    'offset not the next multiple of 256',
    { constants: [tensor([3]), tensor([3], 12)], dataByteLength: 24 },
    'constant 1: got 12 bytes at 12 of the data section, expected 12 at 256.',
  ],
  [
    'overlap',
    { constants: [tensor([3]), tensor([3])], dataByteLength: 12 },
    'got 12 bytes at 0 of the data section, expected 12 at 256',
  ],
  [
    'a wrong length',
    { constants: [{ ...tensor([3]), byteLength: 16 } as Constant], dataByteLength: 16 },
    'got 16 bytes at 0 of the data section, expected 12 at 0',
  ],
  [
    'a splat of more than one element',
    { constants: [{ ...tensor([3]), isSplat: true } as Constant], dataByteLength: 12 },
    'expected 4 at 0',
  ],
  [
    'beyond the data section',
    { constants: [tensor([3])], dataByteLength: 11 },
    'constant 0: got a tensor that ends at byte 12 of the data section, expected at most 11',
  ],
  [
    'a data section without tensors',
    { dataByteLength: 1 },
    'data section: got 1 bytes, expected 0, where the last tensor ends',
  ],
  [
    'more elements than a number can count',
    {
      constants: [{ ...tensor([]), shape: [2 ** 40, 2 ** 40], isSplat: true } as Constant],
      dataByteLength: 4,
    },
    'got a tensor of 4.8',
  ],
  [
    'a negative dimension',
    { constants: [{ kind: 'shape', value: [2, -1] }] },
    'constant 0: got dimension -1, expected one from 0 up',
  ],
  [
    'too high a rank',
    { constants: [{ kind: 'shape', value: Array.from({ length: 33 }, () => 1) }] },
    'got rank 33, expected at most 32',
  ],
  [
    'an int that is none',
    { constants: [{ kind: 'int', value: 0.5 }] },
    'constant 0: got 0.5, expected a safe integer',
  ],
  [
    'half of a surrogate pair',
    { constants: [{ kind: 'string', value: '\ud800' }] },
    'with half of a surrogate pair, expected well-formed Unicode',
  ],
];

function deepDim(levels: number): Dim {
  let dim: Dim = 'n';
  for (let i = 0; i < levels; i++) dim = { op: 'add', left: dim, right: 1 };
  return dim;
}

const TABLES: Case[] = [
  [
    'an input defined later',
    { primitives: [{ ...kernel, body: [{ op: 'relu', inputs: [1], attributes: {} }] }] },
    'primitive kernel, value %1 (relu): got input %1, expected -1, or a value before %1.',
  ],
  [
    'a result that is no value',
    { primitives: [{ ...kernel, results: [{ value: 2, type: vector }] }] },
    'got result %2, expected a value of one of its 1 operator calls',
  ],
  [
    'a result that is a parameter',
    { primitives: [{ ...kernel, results: [{ value: 0, type: vector }] }] },
    'got result %0, expected a value of one of its 1 operator calls',
  ],
  [
    'a result that comes twice',
    {
      primitives: [
        {
          ...kernel,
          results: [
            { value: 1, type: vector },
            { value: 1, type: vector },
          ],
        },
      ],
    },
    'got result %1 twice, expected each once',
  ],
  [
    'no result',
    { primitives: [{ ...kernel, results: [] }] },
    'got no results, expected at least one',
  ],
  [
    'an operator that is no identifier',
    { primitives: [{ ...kernel, body: [{ op: 'a b', inputs: [], attributes: {} }] }] },
    'got operator "a b", expected an identifier',
  ],
  [
    'an attribute __proto__',
    {
      primitives: [
        {
          ...kernel,
          body: [{ op: 'relu', inputs: [], attributes: Object.fromEntries([['__proto__', 1]]) }],
        },
      ],
    },
    'got attribute "__proto__"',
  ],
  [
    'a dimension too deep',
    { primitives: [{ ...kernel, params: [{ dtype: 'float32', shape: [deepDim(201)] }] }] },
    'got a dimension of more levels, expected at most 200 levels',
  ],
  [
    'a parameter twice',
    { params: ['x', 'x'], registers: 2 },
    'parameters of function main: got the name "x" twice',
  ],
  [
    'a function named as a primitive',
    { primitives: [{ ...kernel, name: 'main' }] },
    'functions and primitives: got the name "main" twice',
  ],
  ['a reference twice', { table: ['f', 'f'] }, 'function references: got the name "f" twice'],
  [
    'a reference of a wrong kind',
    { table: ['kernel'] },
    'function reference 0: got primitive kernel, expected the name of a primitive function of the executable, or kind packed',
  ],
  [
    'a primitive with a reserved name',
    { primitives: [{ ...kernel, name: 'vm.builtin.copy' }] },
    'function vm.builtin.copy: got a name of a builtin',
  ],
  [
    'an empty name',
    { params: [''], registers: 1 },
    'parameter of function main: got a name of 0 characters, expected 1 to 1024',
  ],
  ['a metadata key', { metadata: { 'a b': '' } }, 'metadata: got key "a b"'],
  [
    'code that no function has',
    {
      code: [...RET_VOID, 0],
      functions: [{ name: 'main', paramNames: [], registerCount: 0, codeStart: 0, codeLength: 2 }],
    },
    'code: got 3 words, expected 2, the sum over all functions',
  ],
  [
    'a function beyond the code',
    {
      functions: [
        { name: 'main', paramNames: [], registerCount: 0, codeStart: 0, codeLength: 2 ** 31 },
      ],
    },
    'code: got 2 words, expected 2147483648',
  ],
  [
    'a function that overlaps',
    {
      functions: [{ name: 'main', paramNames: [], registerCount: 0, codeStart: 1, codeLength: 1 }],
    },
    'got code of 1 words from word 1, expected at least one word from word 0',
  ],
  [
    'a signature of another arity',
    {
      functions: [
        {
          name: 'main',
          paramNames: [],
          registerCount: 0,
          codeStart: 0,
          codeLength: 2,
          signature: { params: [{ kind: 'int' }], results: [] },
        },
      ],
    },
    'signature of function main: got 1 parameter types, expected 0',
  ],
];

describe.each([
  ['code', CODE],
  ['flow', FLOW],
  ['calls', CALLS],
  ['shape heaps', HEAPS],
  ['shape programs', SHAPE_PROGRAMS],
  ['constants', CONSTANTS],
  ['tables', TABLES],
])('verify %s', (_, cases) => {
  test.each(cases)('%s', (_, draft, part) => {
    expect(message(draft)).toContain(part);
  });
});

describe('programs made to be slow', () => {
  test('more arguments than a JS function takes are refused, those of a bytecode function not', () => {
    const args = new Array<number>(200_000).fill(imm(1));
    const draft = { code: [...call(VOID_REGISTER, 0, ...args.slice(0, 16_385)), ...RET_VOID] };
    expect(message({ ...draft, table: ['f'] })).toContain(
      'got 16385 arguments, expected at most 16384: it is not a bytecode function',
    );
    const params = args.map((_, index) => `p${index}`);
    const code = [1, VOID_REGISTER, fn(0), args.length].concat(args, RET_VOID);
    expect(message({ code, table: ['main'], params, registers: params.length })).toBe('accepted');
  });

  test('many registers through many blocks are refused, not waited for', () => {
    const count = 20_000;
    const code: number[] = [];
    for (let i = 1; i <= count; i++) code.push(...call(i, 0));
    for (let i = 0; i < count; i++) code.push(3, 0, 3);
    for (let i = 1; i <= count; i++) code.push(...call(VOID_REGISTER, 0, i));
    code.push(...RET_VOID);
    const draft = { code, table: ['f'], params: ['x'], registers: count + 1 };
    expect(message(draft)).toContain(
      'got a control flow with too many registers living through too many blocks, expected at most 2^24 steps',
    );
  });

  test('a long straight function is checked at once', () => {
    const count = 50_000;
    const code = Array.from({ length: count }, (_, i) => call(i + 1, 0, i)).flat();
    code.push(2, count);
    expect(message({ code, table: ['f'], params: ['x'], registers: count + 1 })).toBe('accepted');
  });
});
