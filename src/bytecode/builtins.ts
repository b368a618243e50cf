/**
 * The signatures of `vm.builtin.*`. The verifier checks operands against this table, the runtime
 * has one implementation per entry, and `docs/builtins.md` is generated from it.
 */
export type BuiltinOperand =
  /** Anything. */
  | 'value'
  | 'tensor'
  | 'storage'
  | 'shape'
  | 'heap'
  /** A tuple or any other ADT value. */
  | 'adt'
  | 'closure'
  /** An integer: immediate, constant or register. */
  | 'int'
  | 'string'
  | 'dtype'
  /** A function operand. */
  | 'function'
  /** An immediate below the size of the heap operand before it. */
  | 'slot'
  /** An immediate index into the shape programs, which use slots of the heap operand before it. */
  | 'program'
  /** An immediate from 0 up. */
  | 'count'
  /** An immediate: -1 for "any", else as `count`. */
  | 'rank'
  /** An immediate device index: 0 is the session's device, 1 the host. */
  | 'device'
  /** The `%void` register. */
  | 'void'
  /** Pairs of immediates (`MatchCode`, value), as many as the `count` operand says. */
  | 'match-pairs'
  /** Pairs of immediates (`MakeCode`, value), as many as the `count` operand says. */
  | 'make-pairs';

/** What a builtin takes and gives, by kinds of values. */
export interface BuiltinSignature {
  /** Operands that every call has, in order. */
  readonly params: readonly BuiltinParam[];
  /** Type of a repeating operand after `params`, zero or more times. */
  readonly rest?: BuiltinParam;
  /** The kind of value that it gives; `void`: none. */
  readonly result:
    | 'value'
    | 'tensor'
    | 'storage'
    | 'shape'
    | 'heap'
    | 'adt'
    | 'closure'
    | 'int'
    | 'void';
  /** One sentence for the documentation. */
  readonly summary: string;
}

/** One operand of a builtin. */
export interface BuiltinParam {
  /** Its name in listings and messages. */
  readonly name: string;
  /** The kind of value, or kinds, that it may be. */
  readonly type: BuiltinOperand | readonly BuiltinOperand[];
}

/** What `match_shape` does with one dimension. */
export const MatchCode = {
  /** The dimension must equal the immediate. */
  assertImmediate: 0,
  /** The dimension is stored in the slot. */
  store: 1,
  /** The dimension may be anything. */
  ignore: 2,
  /** The dimension must equal what the slot holds. */
  assertSlot: 3,
} as const;

/** Where `make_shape` takes one dimension from. */
export const MakeCode = {
  immediate: 0,
  slot: 1,
} as const;

const p = (name: string, type: BuiltinParam['type']): BuiltinParam => ({ name, type });
const context = p('context', ['string', 'void']);
const binary = (summary: string): BuiltinSignature => ({
  params: [p('a', 'int'), p('b', 'int')],
  result: 'int',
  summary,
});

/**
 * All builtins by name, without their prefix {@link BUILTIN_PREFIX}; `docs/builtins.md` lists them.
 */
export const BUILTINS = {
  alloc_storage: {
    params: [p('byteLength', 'int'), p('device', 'device')],
    result: 'storage',
    summary: 'Takes a storage of at least `byteLength` bytes from the allocator of a device.',
  },
  alloc_tensor: {
    params: [
      p('storage', 'storage'),
      p('byteOffset', 'int'),
      p('shape', 'shape'),
      p('dtype', 'dtype'),
    ],
    result: 'tensor',
    summary: 'Makes a tensor over part of a storage. `byteOffset` is a multiple of 256.',
  },
  alloc_shape_heap: {
    params: [p('slots', 'count')],
    result: 'heap',
    summary: 'Makes a shape heap: integer slots for symbolic dimensions, all zero.',
  },
  match_shape: {
    params: [
      p('input', ['tensor', 'shape']),
      p('heap', 'heap'),
      p('rank', 'count'),
      p('pairs', 'match-pairs'),
      context,
    ],
    result: 'void',
    summary:
      'Checks the rank, then each dimension: equals a number or a slot, is stored, or ignored.',
  },
  make_shape: {
    params: [p('heap', 'heap'), p('rank', 'count'), p('pairs', 'make-pairs')],
    result: 'shape',
    summary: 'Builds a shape from immediates and slots.',
  },
  store_shape: {
    params: [p('heap', 'heap'), p('slot', 'slot'), p('value', 'int')],
    result: 'void',
    summary: 'Stores an integer in a slot.',
  },
  load_shape: {
    params: [p('heap', 'heap'), p('slot', 'slot')],
    result: 'int',
    summary: 'Reads a slot.',
  },
  compute_shape: {
    params: [p('heap', 'heap'), p('program', 'program')],
    result: 'void',
    summary: 'Runs a shape program over the heap.',
  },
  shape_of: {
    params: [p('tensor', 'tensor')],
    result: 'shape',
    summary: 'The shape of a tensor.',
  },
  check_tensor_info: {
    params: [p('value', 'value'), p('rank', 'rank'), p('dtype', ['dtype', 'void']), context],
    result: 'void',
    summary: 'Checks that a value is a tensor of a rank (-1: any) and dtype (%void: any).',
  },
  check_shape_info: {
    params: [p('value', 'value'), p('rank', 'rank'), context],
    result: 'void',
    summary: 'Checks that a value is a shape of a rank (-1: any).',
  },
  check_tuple_info: {
    params: [p('value', 'value'), p('fields', 'rank'), context],
    result: 'void',
    summary: 'Checks that a value is a tuple of so many fields (-1: any).',
  },
  reshape: {
    params: [p('tensor', 'tensor'), p('shape', 'shape')],
    result: 'tensor',
    summary: 'A view of the same elements under another shape.',
  },
  copy: {
    params: [p('tensor', 'tensor')],
    result: 'tensor',
    summary: 'A copy in a storage of its own, on the same device.',
  },
  to_device: {
    params: [p('tensor', 'tensor'), p('device', 'device')],
    result: 'tensor',
    summary: 'The tensor on a device; the same value when it is there already.',
  },
  make_tuple: {
    params: [],
    rest: p('field', 'value'),
    result: 'adt',
    summary: 'A tuple: an ADT value of tag 0.',
  },
  tuple_get: {
    params: [p('tuple', 'adt'), p('index', 'int')],
    result: 'value',
    summary: 'A field of a tuple.',
  },
  make_adt: {
    params: [p('tag', 'count')],
    rest: p('field', 'value'),
    result: 'adt',
    summary: 'An ADT value of a constructor tag.',
  },
  get_tag: { params: [p('adt', 'adt')], result: 'int', summary: 'The tag of an ADT value.' },
  get_field: {
    params: [p('adt', 'adt'), p('index', 'int')],
    result: 'value',
    summary: 'A field of an ADT value.',
  },
  make_closure: {
    params: [p('function', 'function')],
    rest: p('captured', 'value'),
    result: 'closure',
    summary: 'A closure: when invoked, its arguments come first, then the captured values.',
  },
  invoke_closure: {
    params: [p('closure', 'closure')],
    rest: p('argument', 'value'),
    result: 'value',
    summary: 'Calls a closure or a packed function value.',
  },
  read_if_cond: {
    params: [p('condition', ['tensor', 'int'])],
    result: 'int',
    summary: '0 or 1 for a scalar; waits for the device when the tensor lives there.',
  },
  move: {
    params: [p('value', 'value')],
    result: 'value',
    summary: 'The value itself: copies a register, or loads a constant or function into one.',
  },
  kill: { params: [], result: 'value', summary: 'Null: drops what the destination register held.' },
  print: {
    params: [],
    rest: p('value', 'value'),
    result: 'void',
    summary: 'Writes values to the log of the machine (tensors with contents).',
  },
  assert: {
    params: [p('condition', ['tensor', 'int']), p('message', 'string')],
    result: 'void',
    summary: 'Stops the program with the message when the condition is zero.',
  },
  fatal: { params: [p('message', 'string')], result: 'void', summary: 'Stops the program.' },
  int_add: binary('a + b.'),
  int_sub: binary('a - b.'),
  int_mul: binary('a * b.'),
  int_floordiv: binary('a / b, rounded towards minus infinity.'),
  int_mod: binary('a - b * floor(a / b).'),
  int_eq: binary('1 when a equals b, else 0.'),
  int_lt: binary('1 when a is less than b, else 0.'),
} as const satisfies Record<string, BuiltinSignature>;

/** The name of a builtin, without its prefix. */
export type BuiltinName = keyof typeof BUILTINS;

/** Names of builtins in executables start so; a packed function of a user must not. */
export const BUILTIN_PREFIX = 'vm.builtin.';

/** The signature of a builtin by the full name of a function operand, `vm.builtin.copy`. */
export function builtinSignature(functionName: string): BuiltinSignature | undefined {
  if (!functionName.startsWith(BUILTIN_PREFIX)) return undefined;
  const name = functionName.slice(BUILTIN_PREFIX.length);
  const table: Readonly<Record<string, BuiltinSignature>> = BUILTINS;
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
