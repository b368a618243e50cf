import { call, scalar, variable } from '../../compiler/ir/build.ts';
import type { CallExpr, Expr, FunctionExpr, VarExpr } from '../../compiler/ir/expr.ts';
import { childrenOf, postOrder, rewrite } from '../../compiler/ir/walk/visit.ts';
import { operatorName } from '../../compiler/ir/operators/operator-name.ts';
import { UnsupportedError } from '../../core/errors.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';
import type { CacheType } from '../../core/text-layout.ts';
import type { Decoder } from './generation-module.ts';

/** The largest code of an int8. */
const MOST_CODE = 127;
/** A row of zeros has this scale, so that nothing is divided by zero. */
const LEAST_SCALE = 1e-30;

/** Types of caches of a type: those of the rows, and behind them, of integers, those of their scales. */
export function storedTypes(
  caches: readonly TensorType[],
  type: CacheType | undefined,
): readonly TensorType[] {
  if (type === undefined) return caches;
  const rows = caches.map(({ shape }): TensorType => ({ dtype: type, shape }));
  return type === 'float16' ? rows : [...rows, ...caches.map(scaleType)];
}

/** One scale for each position and head. */
const scaleType = ({ shape }: TensorType): TensorType => ({
  dtype: 'float32',
  shape: [...shape.slice(0, 3), 1],
});

/** A decoder whose function `decode` has no others to call, with caches of a type. */
export function withCachesOf(decoder: Decoder, type: CacheType | undefined): Decoder {
  const decode = decoder.module.functions.get('decode');
  if (decode === undefined || type === undefined) return decoder;
  const caches = decode.params.slice(-decoder.caches.length);
  const functions = new Map(decoder.module.functions);
  functions.set('decode', retypeCaches(decode, caches, type));
  const module = { ...decoder.module, functions };
  return { ...decoder, module, caches: storedTypes(decoder.caches, type) };
}

/**
 * A function whose caches, parameters (b, heads, c, width) of floats that `tensor_scatter` changes, are of another type. What
 * is written is rounded, and `cached_attention` reads it as it is; functions that are called get it widened. The
 * scales of int8 are parameters and results behind all others.
 *
 * Throws UnsupportedError for caches that anything else reads.
 */
export function retypeCaches(
  fn: FunctionExpr,
  caches: readonly VarExpr[],
  type: CacheType,
): FunctionExpr {
  const known = new Map(caches.map((cache) => [cache, storedCache(cache, type)] as const));
  const written = new Map<Expr, WrittenCache>();
  const widened = new Set<Expr>();
  const body = rewrite(fn.body, (expr) => {
    if (expr.kind === 'var') return known.get(expr)?.rows ?? expr;
    if (expr.kind !== 'call') return expr;
    if (expr.callee.kind === 'global') return withWideArgs(expr, [...known.values()], widened);
    if (expr.callee.kind !== 'operator') return expr;
    if (expr.callee.name === 'cached_attention') return withScales(expr, written);
    if (expr.callee.name !== 'tensor_scatter') return expr;
    const cache = [...known.values()].find(({ rows }) => reads(expr.args[0], rows));
    if (cache === undefined) return expr;
    const [rows, scale] = storedRows(expr.args[1] ?? expr, type);
    // It has room already, so that nothing lengthens it.
    const into = (to: VarExpr, from: Expr): CallExpr => ({
      ...expr,
      args: [to, from, ...expr.args.slice(2)],
    });
    const changed = into(cache.rows, rows);
    written.set(changed, { cache, scale: cache.scale && scale && into(cache.scale, scale) });
    return changed;
  });
  requireKnownReaders(body, { known, written, widened });
  const scales = [...known.values()].flatMap((cache) =>
    [...written.values()].flatMap((of) => (of.cache === cache && of.scale ? [of.scale] : [])),
  );
  const params = fn.params.map((param) => known.get(param)?.rows ?? param);
  const scaleParams = [...known.values()].flatMap(({ scale }) => (scale ? [scale] : []));
  const { resultNames } = fn.attributes;
  const names = resultNames && [...resultNames, ...scaleParams.map(({ name }) => name)];
  return {
    ...fn,
    params: [...params, ...scaleParams],
    body: withFields(body, scales),
    attributes: names ? { ...fn.attributes, resultNames: names } : fn.attributes,
  };
}

interface StoredCache {
  readonly rows: VarExpr;
  readonly scale: VarExpr | undefined;
  /** The dtype of rows in the model. */
  readonly dtype: TensorType['dtype'];
}

interface WrittenCache {
  readonly cache: StoredCache;
  /** The scales with those of what was written. */
  readonly scale: Expr | undefined;
}

function storedCache({ name, type: given }: VarExpr, type: CacheType): StoredCache {
  const { dtype, shape }: TensorType =
    given?.kind === 'tensor' ? given : { dtype: 'float32', shape: [] };
  const { dtype: scaleDType, shape: scaleShape } = scaleType({ dtype, shape });
  return {
    rows: variable(name, type, shape),
    scale: type === 'int8' ? variable(`${name}_scale`, scaleDType, scaleShape) : undefined,
    dtype,
  };
}

/** Rows as a cache of a type has them, and of integers the scale of each: its largest magnitude over 127. */
function storedRows(rows: Expr, type: CacheType): readonly [rows: Expr, scale?: Expr] {
  if (type === 'float16') return [call('cast', [rows], { to: 'float16' })];
  const wide = call('cast', [rows], { to: 'float32' });
  const most = call('reduce_max', [call('abs', [wide])], { axes: [3], keepdims: true });
  const scale = call('maximum', [call('div', [most, scalar(MOST_CODE)]), scalar(LEAST_SCALE)]);
  const codes = call('cast', [call('round', [call('div', [wide, scale])])], { to: 'int8' });
  return [codes, scale];
}

/** Caches that go to another function are what they were before. `widened` gets the calls that read them. */
function withWideArgs(
  expr: CallExpr,
  caches: readonly StoredCache[],
  widened: Set<Expr>,
): CallExpr {
  const args = expr.args.map((arg) => {
    const cache = caches.find(({ rows }) => rows === arg);
    if (cache === undefined) return arg;
    const { rows, scale, dtype } = cache;
    const wide = call('cast', [rows], { to: scale === undefined ? dtype : 'float32' });
    widened.add(wide);
    return scale === undefined ? wide : call('cast', [call('mul', [wide, scale])], { to: dtype });
  });
  return { ...expr, args };
}

function withScales(expr: CallExpr, written: ReadonlyMap<Expr, WrittenCache>): CallExpr {
  const scales = expr.args.slice(1, 3).flatMap((arg) => written.get(arg)?.scale ?? []);
  return scales.length === 2 ? { ...expr, args: [...expr.args.slice(0, 4), ...scales] } : expr;
}

const reads = (expr: Expr | undefined, variable: VarExpr): boolean =>
  expr !== undefined && postOrder(expr).includes(variable);

interface Rewritten {
  readonly known: ReadonlyMap<VarExpr, StoredCache>;
  readonly written: ReadonlyMap<Expr, WrittenCache>;
  /** Casts of caches for other functions. */
  readonly widened: ReadonlySet<Expr>;
}

/** Each cache is written once, and what was written goes to attention and out of the function only. */
function requireKnownReaders(body: Expr, { known, written, widened }: Rewritten): void {
  const caches = new Set<Expr>([...known.values()].map(({ rows }) => rows));
  const isCounted = [...known.values()].every(
    (cache) => [...written.values()].filter((of) => of.cache === cache).length === 1,
  );
  const others = postOrder(body).filter((expr) => {
    if (expr.kind === 'tuple' || written.has(expr) || widened.has(expr)) return false;
    const isAttention = isOperator(expr, 'cached_attention');
    return childrenOf(expr).some((child, i) => {
      if (caches.has(child)) return true;
      return written.has(child) && !(isAttention && (i === 1 || i === 2));
    });
  });
  const [other] = others;
  if (other === undefined && isCounted) return;
  const reader =
    other?.kind === 'call' && other.callee.kind === 'operator' ? other.callee.name : other?.kind;
  throw new UnsupportedError({
    where: 'language model, cacheType',
    got: other === undefined ? 'a cache that is not appended to' : `caches that ${reader} reads`,
    expected: 'caches that are appended to and read by attention, without biases and sinks',
    remedy: 'Leave cacheType out: the caches then have the type that the model says.',
  });
}

const isOperator = (expr: Expr, name: string): boolean => operatorName(expr) === name;

/** A result with more fields behind its own. */
function withFields(body: Expr, fields: readonly Expr[]): Expr {
  if (fields.length === 0) return body;
  if (body.kind === 'let') return { ...body, body: withFields(body.body, fields) };
  if (body.kind === 'tuple') return { ...body, fields: [...body.fields, ...fields] };
  throw new Error('internal: a decoder with one result');
}
