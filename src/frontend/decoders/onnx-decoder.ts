import { TypeInference } from '../../compiler/inference/type-inference.ts';
import { call, variable } from '../../compiler/ir/build.ts';
import type { Expr, FunctionExpr, Module, VarExpr } from '../../compiler/ir/expr.ts';
import { parseModule } from '../../compiler/ir/text/parse.ts';
import type { Type } from '../../compiler/ir/type.ts';
import { isOperatorCall } from '../../compiler/ir/operators/operator-name.ts';
import { substituteSymbols } from '../../compiler/passes/dims/bind-dims.ts';
import { forEachSymbol } from '../../core/dims/dim-symbols.ts';
import { type Dim, formatDim } from '../../core/dims/dim.ts';
import { UnsupportedError } from '../../core/errors.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';
import type { CacheType } from '../../core/text-layout.ts';
import { CORE_OPERATORS } from '../../ops/tables/core-operators.ts';
import { retypeCaches, storedTypes, withCachesOf } from './cache-type.ts';
import type { Decoder } from './generation-module.ts';

/**
 * Operators that compute each element from those at its place, and from constants that all tokens
 * share.
 */
const ELEMENTWISE = new Set(['cast', 'add', 'sub', 'mul', 'div', 'tanh', 'neg']);
/** Products of a row for each token by weights, which are what follows. */
const PRODUCTS = new Set(['matmul', 'matmul_nbits']);

/**
 * Logits (b, s, V) of an expression, but only of the tokens `wanted`, int32 (b, m): (b, m, V). The tokens are taken before
 * the product by the head's weights where that is a product of each token's row by constants, which is most of
 * the work for a prompt.
 */
function wantedRows(logits: Expr, wanted: Expr, types: TypeInference): Expr {
  const shapeOf = (expr: Expr): readonly Dim[] => {
    const type = types.of(expr);
    return type.kind === 'tensor' ? type.shape : [];
  };
  /** A constant that all tokens share: of one axis, or of the axes of a matrix in a product. */
  const isShared = (expr: Expr, rank: number): boolean => {
    const shape = shapeOf(expr);
    return shape.slice(0, -1).every((size) => size === 1) || shape.length <= rank;
  };
  const take = (expr: Expr): Expr => {
    if (isOperatorCall(expr)) {
      const { name } = expr.callee;
      const { args } = expr;
      const rows = args.filter((arg) => !isConstant(arg));
      const [x] = rows;
      const isProduct = PRODUCTS.has(name) && x === args[0];
      const rank = isProduct && name === 'matmul' ? 2 : isProduct ? Number.POSITIVE_INFINITY : 1;
      const others = args.filter(isConstant);
      const isPassed =
        x !== undefined &&
        rows.length === 1 &&
        shapeOf(x).length === 3 &&
        (isProduct || ELEMENTWISE.has(name)) &&
        others.every((arg) => isShared(arg, rank));
      if (isPassed) return { ...expr, args: args.map((arg) => (arg === x ? take(x) : arg)) };
    }
    const places = call('reshape', [wanted], { shape: ['b', 'm', 1] });
    return call('gather_nd', [expr, places], { batch_dims: 1 });
  };
  return take(logits);
}

/** A constant, or what follows from constants alone, such as a transposed one. */
function isConstant(expr: Expr): boolean {
  if (expr.kind === 'constant') return true;
  const isCall = isOperatorCall(expr);
  return isCall && expr.args.length > 0 && expr.args.every(isConstant);
}

const TOKENS = 'input_ids';
const MASK = 'attention_mask';
const POSITIONS = 'position_ids';
const LOGITS = 'logits';
const PAST = /^past_key_values\.(\d+)\.(key|value)$/;

/**
 * A decoder of an ONNX model as exporters write them for transformers.js: `input_ids` and `attention_mask`, perhaps
 * `position_ids`, and `past_key_values.N.key` and `.value` to `logits` and `present.N.key` and `.value`. The module is what
 * `importOnnx` gives.
 *
 * Two kinds are known. Models with GroupQueryAttention change a cache of a fixed size where it lies. Those that join past
 * and new rows get the cache with its room as the past, whose unused part the mask hides; the rows that they add go into
 * the cache. Throws UnsupportedError that names inputs and outputs of other models, and for caches of another type where more
 * than attention reads them.
 */
export function onnxDecoder(module: Module, { cacheType }: OnnxDecoderOptions = {}): Decoder {
  const main = module.functions.get('main');
  if (main === undefined) throw unsupported('no function main', 'an imported model');
  const inputs = new Map(main.params.map((param) => [param.name, param]));
  const pasts = main.params.filter(({ name }) => PAST.test(name));
  requireInputs(main, pasts);
  const outputs = main.attributes.resultNames ?? [];
  const logits = requireOutput(outputs, LOGITS);
  const presents = pasts.map(({ name }) =>
    requireOutput(outputs, name.replace('past_key_values', 'present')),
  );
  const caches = pasts.map((past) => pastType(past));
  const types = new TypeInference(module);
  const fieldsOf = (fn: FunctionExpr): readonly Type[] => {
    const result = types.of(fn.body);
    return result.kind === 'tuple' ? result.fields : [result];
  };
  const total = shapeOf(inputs.get(MASK))[1];
  const isJoined = !presents.every((index) => mentions(fieldsOf(main)[index], total));
  const symbols = symbolsOf(inputs, pasts, isJoined);
  const vocabulary = vocabularyOf(fieldsOf(main)[logits]);
  const wanted = variable('wanted', 'int32', [ROWS, 'm']);
  const named = substituteSymbols(main, symbols, { operators: CORE_OPERATORS });
  const whole = {
    ...named,
    params: [...named.params, wanted],
    body: withField(named.body, logits, (all) => wantedRows(all, wanted, types)),
  };
  const type = caches.every(({ dtype }) => dtype === cacheType) ? undefined : cacheType;
  const cacheParams = whole.params.filter(({ name }) => PAST.test(name));
  const model = type && !isJoined ? retypeCaches(whole, cacheParams, type) : whole;
  const stored = storedTypes(caches, type);
  const text = decodeText({
    params: main.params,
    caches: isJoined ? caches : stored,
    logits,
    presents,
    isJoined,
    outputs,
  });
  const functions = new Map([
    ...module.functions,
    ...parseModule(text, { file: 'decoder' }).functions,
    ['model', model] as const,
  ]);
  functions.delete('main');
  const decoder = { module: { ...module, functions }, vocabulary, caches };
  return isJoined ? withCachesOf(decoder, type) : { ...decoder, caches: stored };
}

interface OnnxDecoderOptions {
  /** The dtype of caches. Default: that of the model. */
  readonly cacheType?: CacheType | undefined;
}

/** A result with another one of its fields. */
function withField(body: Expr, index: number, change: (field: Expr) => Expr): Expr {
  if (body.kind === 'let') return { ...body, body: withField(body.body, index, change) };
  if (body.kind !== 'tuple') return change(body);
  return { ...body, fields: body.fields.map((field, i) => (i === index ? change(field) : field)) };
}

/** Room for positions in all caches, and what the program calls other sizes. */
const [ROWS, LENGTH, CAPACITY] = ['b', 's', 'c'];

function requireInputs({ params }: FunctionExpr, pasts: readonly VarExpr[]): void {
  const names = params.map(({ name }) => name);
  const others = names.filter(
    (name) => ![TOKENS, MASK, POSITIONS].includes(name) && !PAST.test(name),
  );
  const missing = [TOKENS, MASK].filter((name) => !names.includes(name));
  if (others.length === 0 && missing.length === 0 && pasts.length > 0) return;
  throw unsupported(
    `inputs ${names.join(', ')}`,
    `${TOKENS}, ${MASK}, perhaps ${POSITIONS}, and past_key_values.N.key and .value`,
  );
}

/** Throws UnsupportedError unless the nodes of a model read and make what those of a decoder with a cache do. */
export function requireDecoderNames(names: ReadonlySet<string>): void {
  const missing = [TOKENS, LOGITS].filter((name) => !names.has(name));
  if (![...names].some((name) => PAST.test(name))) missing.push('past_key_values.N.key');
  if (missing.length === 0) return;
  throw unsupported(`a model without ${missing.join(', ')}`, 'a decoder with a cache');
}

function requireOutput(outputs: readonly string[], name: string): number {
  const index = outputs.indexOf(name);
  if (index >= 0) return index;
  throw unsupported(`outputs ${outputs.join(', ')}`, `an output ${name}`);
}

function unsupported(got: string, expected: string): UnsupportedError {
  const remedy =
    'Export the model for text generation with a cache, as optimum does with "text-generation-with-past".';
  return new UnsupportedError({ where: 'language model', got, expected, remedy });
}

const shapeOf = (param: VarExpr | undefined): readonly Dim[] =>
  param?.type?.kind === 'tensor' ? param.type.shape : [];

function mentions(type: Type | undefined, symbol: Dim | undefined): boolean {
  if (type?.kind !== 'tensor') return false;
  return type.shape.some((dim) => dimSymbols(dim).some((own) => own === symbol));
}

function dimSymbols(dim: Dim): string[] {
  const found: string[] = [];
  forEachSymbol(dim, (symbol) => found.push(symbol));
  return found;
}

/** The type of a cache: rows and room are symbols, heads and width numbers. */
function pastType(past: VarExpr): TensorType {
  const [, heads, , width] = shapeOf(past);
  if (past.type?.kind !== 'tensor' || typeof heads !== 'number' || typeof width !== 'number') {
    const got = `${past.name} of shape (${shapeOf(past).map(formatDim).join(', ')})`;
    throw unsupported(got, '(batch, heads, positions, width) with numbers of heads and width');
  }
  return { dtype: past.type.dtype, shape: [ROWS, heads, CAPACITY, width] };
}

function vocabularyOf(type: Type | undefined): number {
  const size = type?.kind === 'tensor' ? type.shape[2] : undefined;
  if (type?.kind === 'tensor' && type.shape.length === 3 && typeof size === 'number') return size;
  throw unsupported(
    `${LOGITS} of another shape`,
    '(batch, tokens, vocabulary) with a known vocabulary',
  );
}

/** Dimensions of the program by the model's names for them. */
function symbolsOf(
  inputs: ReadonlyMap<string, VarExpr>,
  pasts: readonly VarExpr[],
  isJoined: boolean,
): Map<string, Dim> {
  const symbols = new Map<string, Dim>();
  const name = (dims: readonly Dim[], names: readonly Dim[]): void => {
    for (const [axis, dim] of dims.entries()) {
      const to = names[axis];
      if (typeof dim === 'string' && to !== undefined && !symbols.has(dim)) symbols.set(dim, to);
    }
  };
  const total: Dim = isJoined ? { op: 'add', left: CAPACITY, right: LENGTH } : CAPACITY;
  name(shapeOf(inputs.get(TOKENS)), [ROWS, LENGTH]);
  for (const past of pasts) name([...shapeOf(past)].slice(0, 3), [ROWS, ROWS, CAPACITY]);
  name(shapeOf(inputs.get(MASK)), [ROWS, total]);
  name(shapeOf(inputs.get(POSITIONS)), [ROWS, LENGTH]);
  return symbols;
}

interface DecodeParts {
  readonly params: readonly VarExpr[];
  readonly caches: readonly TensorType[];
  readonly outputs: readonly string[];
  /** The place of the logits among the outputs. */
  readonly logits: number;
  /** The place of each cache among the outputs; the scales of integers are behind all outputs. */
  readonly presents: readonly number[];
  readonly isJoined: boolean;
}

function decodeText(parts: DecodeParts): string {
  const { caches } = parts;
  const cacheParams = caches.map(
    ({ dtype, shape }, i) => `%cache${i}: Tensor[(${shape.map(formatDim).join(', ')}), ${dtype}]`,
  );
  const { params, logits, presents, isJoined, outputs } = parts;
  let next = 0;
  const args = params.map(({ name, type }) => {
    if (PAST.test(name)) return `%cache${next++}`;
    const dtype = type?.kind === 'tensor' ? type.dtype : 'int64';
    const value = { [TOKENS]: '%tokens', [MASK]: '%mask', [POSITIONS]: '%positions' }[name];
    return `cast(${value}, to="${dtype}")`;
  });
  const output = (index: number): string =>
    outputs.length === 1 ? '%outputs' : `%outputs.${index}`;
  // A joined model sees the whole cache as its past: what is not used of it is masked, and new rows are behind it.
  const mask = isJoined
    ? `concat(less(%at, reshape(%first, shape=[b, 1])), broadcast_to(true, shape=[b, s]), axis=1)`
    : 'less(%at, reshape(add(%first, cast(dims_tensor(dims=[s]), to="int32")), shape=[b, 1]))';
  const scales = caches.slice(presents.length);
  const scaleArgs = scales.map((_, i) => `, %cache${presents.length + i}`);
  const keptScales = scales.map((_, i) => `%outputs.${outputs.length + i}`);
  const kept = presents.map((index, i) => {
    if (!isJoined) return output(index);
    const [, heads = 0, , width = 0] = caches[i]?.shape ?? [];
    const rows = `slice(${output(index)}, starts=[0, 0, c, 0], ends=[b, ${formatDim(heads)}, c + s, ${formatDim(width)}])`;
    return `tensor_scatter(%cache${i}, ${rows}, %first, axis=2)`;
  });
  return `
private def @model(%x: Tensor[(), float32]) { %x }

private def @decode(%tokens: Tensor[(b, s), int32], %first: Tensor[(b,), int32], %wanted: Tensor[(b, m), int32],
    ${cacheParams.join(', ')}) {
  %at = reshape(cast(arange(start=[0], size=[c]), to="int32"), shape=[1, c]);
  %mask = ${mask};
  %positions = add(reshape(%first, shape=[b, 1]), reshape(cast(arange(start=[0], size=[s]), to="int32"), shape=[1, s]));
  let %outputs = @model(${args.join(', ')}, %wanted${scaleArgs.join('')});
  (cast(${output(logits)}, to="float32"), ${[...kept, ...keptScales].join(', ')})
}
`;
}
