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
  /** A number of the host with a fraction: constant or register. */
  | 'float'
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

/** The kinds of values that a builtin takes and gives. */
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
    | 'float'
    | 'void';
}

/** One operand of a builtin. */
export interface BuiltinParam {
  /** Its name in listings and messages. */
  readonly name: string;
  /** The kind of value, or kinds, that it may be. */
  readonly type: BuiltinOperand | readonly BuiltinOperand[];
}

/** The actions of `match_shape` on one dimension. */
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
const INTEGERS: BuiltinSignature = { params: [p('a', 'int'), p('b', 'int')], result: 'int' };
const FLOATS = [p('a', 'float'), p('b', 'float')];

/**
 * All builtins by name, without their prefix {@link BUILTIN_PREFIX}; `docs/builtins.md` lists them.
 */
export const BUILTINS = {
  alloc_storage: {
    params: [p('byteLength', 'int'), p('device', 'device')],
    result: 'storage',
  },
  alloc_tensor: {
    params: [
      p('storage', 'storage'),
      p('byteOffset', 'int'),
      p('shape', 'shape'),
      p('dtype', 'dtype'),
    ],
    result: 'tensor',
  },
  alloc_shape_heap: {
    params: [p('slots', 'count')],
    result: 'heap',
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
  },
  make_shape: {
    params: [p('heap', 'heap'), p('rank', 'count'), p('pairs', 'make-pairs')],
    result: 'shape',
  },
  store_shape: {
    params: [p('heap', 'heap'), p('slot', 'slot'), p('value', 'int')],
    result: 'void',
  },
  load_shape: {
    params: [p('heap', 'heap'), p('slot', 'slot')],
    result: 'int',
  },
  compute_shape: {
    params: [p('heap', 'heap'), p('program', 'program')],
    result: 'void',
  },
  shape_of: {
    params: [p('tensor', 'tensor')],
    result: 'shape',
  },
  check_tensor_info: {
    params: [p('value', 'value'), p('rank', 'rank'), p('dtype', ['dtype', 'void']), context],
    result: 'void',
  },
  check_shape_info: {
    params: [p('value', 'value'), p('rank', 'rank'), context],
    result: 'void',
  },
  check_tuple_info: {
    params: [p('value', 'value'), p('fields', 'rank'), context],
    result: 'void',
  },
  reshape: {
    params: [p('tensor', 'tensor'), p('shape', 'shape')],
    result: 'tensor',
  },
  copy: {
    params: [p('tensor', 'tensor')],
    result: 'tensor',
  },
  own: {
    params: [p('tensor', 'tensor')],
    result: 'tensor',
  },
  reuse: {
    params: [p('tensor', 'tensor')],
    result: 'tensor',
  },
  append: {
    params: [p('tensor', 'tensor'), p('axis', 'count')],
    rest: p('part', 'tensor'),
    result: 'tensor',
  },
  whole: {
    params: [p('tensor', 'tensor'), p('axis', 'count')],
    result: 'tensor',
  },
  to_device: {
    params: [p('tensor', 'tensor'), p('device', 'device')],
    result: 'tensor',
  },
  make_tuple: {
    params: [],
    rest: p('field', 'value'),
    result: 'adt',
  },
  tuple_get: {
    params: [p('tuple', 'adt'), p('index', 'int')],
    result: 'value',
  },
  make_adt: {
    params: [p('tag', 'count')],
    rest: p('field', 'value'),
    result: 'adt',
  },
  get_tag: { params: [p('adt', 'adt')], result: 'int' },
  get_field: {
    params: [p('adt', 'adt'), p('index', 'int')],
    result: 'value',
  },
  make_closure: {
    params: [p('function', 'function')],
    rest: p('captured', 'value'),
    result: 'closure',
  },
  invoke_closure: {
    params: [p('closure', 'closure')],
    rest: p('argument', 'value'),
    result: 'value',
  },
  read_if_cond: {
    params: [p('condition', ['tensor', 'int'])],
    result: 'int',
  },
  move: {
    params: [p('value', 'value')],
    result: 'value',
  },
  kill: { params: [], result: 'value' },
  print: {
    params: [],
    rest: p('value', 'value'),
    result: 'void',
  },
  assert: {
    params: [p('condition', ['tensor', 'int']), p('message', 'string')],
    result: 'void',
  },
  fatal: { params: [p('message', 'string')], result: 'void' },
  int_add: INTEGERS,
  int_sub: INTEGERS,
  int_mul: INTEGERS,
  int_floordiv: INTEGERS,
  int_mod: INTEGERS,
  int_eq: INTEGERS,
  int_lt: INTEGERS,
  float_add: { params: FLOATS, result: 'float' },
  float_sub: { params: FLOATS, result: 'float' },
  float_mul: { params: FLOATS, result: 'float' },
  float_div: { params: FLOATS, result: 'float' },
  float_pow: { params: FLOATS, result: 'float' },
  float_eq: { params: FLOATS, result: 'int' },
  float_lt: { params: FLOATS, result: 'int' },
  float_from_int: { params: [p('value', 'int')], result: 'float' },
  int_from_float: { params: [p('value', 'float')], result: 'int' },
  make_tensor: {
    params: [p('dtype', 'dtype'), p('device', 'device')],
    rest: p('element', ['int', 'float']),
    result: 'tensor',
  },
  make_sizes: { params: [], rest: p('size', 'int'), result: 'tensor' },
} as const satisfies Record<string, BuiltinSignature>;

/** Builtins that came with version 1.2 of the format. */
export const LATER_BUILTINS = [
  'own',
  'reuse',
  'append',
  'whole',
  'float_add',
  'float_sub',
  'float_mul',
  'float_div',
  'float_pow',
  'float_eq',
  'float_lt',
  'float_from_int',
  'int_from_float',
  'make_tensor',
  'make_sizes',
] as const satisfies readonly BuiltinName[];

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
