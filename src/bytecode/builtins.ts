/**
 * The signatures of `vm.builtin.*`. The verifier checks operands against this table, the runtime
 * has one implementation per entry, and `docs/builtins.md` is generated from it.
 */
export type BuiltinOperand =
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
const gives = (
  result: BuiltinSignature['result'],
  params: readonly BuiltinParam[] = [],
  rest?: BuiltinParam,
): BuiltinSignature => ({ params, ...(rest && { rest }), result });
const INTEGERS = gives('int', [p('a', 'int'), p('b', 'int')]);
const FLOATS = [p('a', 'float'), p('b', 'float')];

/**
 * All builtins by name, without their prefix {@link BUILTIN_PREFIX}; `docs/builtins.md` lists them.
 */
export const BUILTINS = {
  alloc_storage: gives('storage', [p('byteLength', 'int'), p('device', 'device')]),
  alloc_tensor: gives('tensor', [
    p('storage', 'storage'),
    p('byteOffset', 'int'),
    p('shape', 'shape'),
    p('dtype', 'dtype'),
  ]),
  alloc_shape_heap: gives('heap', [p('slots', 'count')]),
  match_shape: gives('void', [
    p('input', ['tensor', 'shape']),
    p('heap', 'heap'),
    p('rank', 'count'),
    p('pairs', 'match-pairs'),
    context,
  ]),
  make_shape: gives('shape', [p('heap', 'heap'), p('rank', 'count'), p('pairs', 'make-pairs')]),
  store_shape: gives('void', [p('heap', 'heap'), p('slot', 'slot'), p('value', 'int')]),
  load_shape: gives('int', [p('heap', 'heap'), p('slot', 'slot')]),
  compute_shape: gives('void', [p('heap', 'heap'), p('program', 'program')]),
  shape_of: gives('shape', [p('tensor', 'tensor')]),
  check_tensor_info: gives('void', [
    p('value', 'value'),
    p('rank', 'rank'),
    p('dtype', ['dtype', 'void']),
    context,
  ]),
  check_shape_info: gives('void', [p('value', 'value'), p('rank', 'rank'), context]),
  check_tuple_info: gives('void', [p('value', 'value'), p('fields', 'rank'), context]),
  reshape: gives('tensor', [p('tensor', 'tensor'), p('shape', 'shape')]),
  copy: gives('tensor', [p('tensor', 'tensor')]),
  own: gives('tensor', [p('tensor', 'tensor')]),
  reuse: gives('tensor', [p('tensor', 'tensor')]),
  append: gives('tensor', [p('tensor', 'tensor'), p('axis', 'count')], p('part', 'tensor')),
  whole: gives('tensor', [p('tensor', 'tensor'), p('axis', 'count')]),
  to_device: gives('tensor', [p('tensor', 'tensor'), p('device', 'device')]),
  make_tuple: gives('adt', [], p('field', 'value')),
  tuple_get: gives('value', [p('tuple', 'adt'), p('index', 'int')]),
  make_adt: gives('adt', [p('tag', 'count')], p('field', 'value')),
  get_tag: gives('int', [p('adt', 'adt')]),
  get_field: gives('value', [p('adt', 'adt'), p('index', 'int')]),
  make_closure: gives('closure', [p('function', 'function')], p('captured', 'value')),
  invoke_closure: gives('value', [p('closure', 'closure')], p('argument', 'value')),
  read_if_cond: gives('int', [p('condition', ['tensor', 'int'])]),
  move: gives('value', [p('value', 'value')]),
  kill: gives('value'),
  print: gives('void', [], p('value', 'value')),
  assert: gives('void', [p('condition', ['tensor', 'int']), p('message', 'string')]),
  fatal: gives('void', [p('message', 'string')]),
  int_add: INTEGERS,
  int_sub: INTEGERS,
  int_mul: INTEGERS,
  int_floordiv: INTEGERS,
  int_mod: INTEGERS,
  int_eq: INTEGERS,
  int_lt: INTEGERS,
  float_add: gives('float', FLOATS),
  float_sub: gives('float', FLOATS),
  float_mul: gives('float', FLOATS),
  float_div: gives('float', FLOATS),
  float_pow: gives('float', FLOATS),
  float_eq: gives('int', FLOATS),
  float_lt: gives('int', FLOATS),
  float_from_int: gives('float', [p('value', 'int')]),
  int_from_float: gives('int', [p('value', 'float')]),
  make_tensor: gives(
    'tensor',
    [p('dtype', 'dtype'), p('device', 'device')],
    p('element', ['int', 'float']),
  ),
  make_sizes: gives('tensor', [], p('size', 'int')),
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
