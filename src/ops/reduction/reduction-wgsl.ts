import { type DType, dtypeInfo, isBigInt } from '../../core/tensor/dtype.ts';
import { wgslTypeName } from '../lowering/wgsl-literal.ts';
import { wideDeclarations } from '../lowering/wide-integers.ts';

export type Reduction = 'sum' | 'mean' | 'prod' | 'max' | 'min';

/** The source of a kernel's elements and the place for its results. */
export interface ReductionStage {
  readonly from: 'input' | 'scratch';
  readonly to: 'output' | 'scratch';
  readonly unit: ReductionUnit;
}

/** The items that one step combines: single elements, four adjacent ones, or one of each of four outputs. */
export type ReductionUnit = 'one' | 'elements' | 'outputs';

/**
 * The functions that the shaders of reductions call: `initial`, `combine`, `element` and `finish`
 * of the reduction and the dtype, the same of the unit's `Item`, and `kept_offset`. Partial results lie in scratch as their bits:
 * f32 or u32 words, two of them for 64-bit integers.
 */
export function reductionWgsl(kind: Reduction, dtype: DType, stage: ReductionStage): string {
  return [
    KEPT_OFFSET,
    combinationWgsl(kind, dtype),
    ...(stage.unit === 'outputs'
      ? []
      : [`fn finish(i: u32, value: Element) { ${finish(kind, dtype, stage)} }`]),
    ...(stage.unit === 'one'
      ? [`fn element(i: u32) -> Element { return ${element(dtype, stage)}; }`, ONE]
      : [FOUR, stage.unit === 'elements' ? FINISH_ELEMENTS : finishOutputs(kind, dtype, stage)]),
    '',
  ].join('\n');
}

/** The functions `initial` and `combine`, with those of 64-bit integers. */
export function combinationWgsl(kind: Reduction, dtype: DType): string {
  return [
    ...(isBigInt(dtype) ? Object.values(wideFunctions()) : []),
    `fn initial() -> Element { return ${initial(kind, dtype)}; }`,
    `fn combine(a: Element, b: Element) -> Element { ${combine(kind, dtype)} }`,
    '',
  ].join('\n');
}

const KEPT_OFFSET = `fn kept_offset(i: u32) -> u32 {
  let k012 = i / params.kept3;
  let k01 = k012 / params.kept2;
  let k0 = k01 / params.kept1;
  return k0 * params.kept_stride0
    + (k01 - k0 * params.kept1) * params.kept_stride1
    + (k012 - k01 * params.kept2) * params.kept_stride2
    + (i - k012 * params.kept3) * params.kept_stride3;
}`;

const ONE = `alias Item = Element;
fn first_item() -> Item { return initial(); }
fn combine_items(a: Item, b: Item) -> Item { return combine(a, b); }
fn item(i: u32) -> Item { return element(i); }
fn finish_item(i: u32, value: Item) { finish(i, value); }`;

const FOUR = `alias Item = Element4;
fn first_item() -> Item { return Item(initial()); }
fn combine_items(a: Item, b: Item) -> Item {
  return Item(combine(a.x, b.x), combine(a.y, b.y), combine(a.z, b.z), combine(a.w, b.w));
}
fn item(i: u32) -> Item { return load_x4(i); }`;

const FINISH_ELEMENTS = `fn finish_item(i: u32, value: Item) {
  finish(i, combine(combine(value.x, value.y), combine(value.z, value.w)));
}`;

function finishOutputs(kind: Reduction, dtype: DType, { to }: ReductionStage): string {
  const mean = kind === 'mean' ? ' / Item(Element(params.divisor))' : '';
  const part = (lane: number) =>
    `store_part(at + ${lane}u * params.pieces, ${partBits(dtype, `value[${lane}]`)});`;
  const lines =
    to === 'output'
      ? [`store4(i, value${mean});`]
      : ['let at = (i / params.pieces * 3u) * params.pieces + i;', ...[0, 1, 2, 3].map(part)];
  return `fn finish_item(i: u32, value: Item) { ${lines.join(' ')} }`;
}

/** A value as scratch holds it. */
function partBits(dtype: DType, value: string): string {
  return wgslTypeName(dtype) === 'i32' ? `bitcast<u32>(${value})` : value;
}

function wideFunctions(): Readonly<Record<string, string>> {
  return wideDeclarations('wide_add', 'wide_mul', 'i64_lt', 'u64_lt', 'i64_div', 'u64_div');
}

/** The neutral element of the combination. Infinities travel as a parameter. */
function initial(kind: Reduction, dtype: DType): string {
  const { category, byteLength } = dtypeInfo(dtype);
  if (kind === 'sum' || kind === 'mean') return 'Element()';
  if (kind === 'prod') return isBigInt(dtype) ? 'Element(1u, 0u)' : 'Element(1)';
  if (category === 'float') return 'params.initial';
  const highest = kind === 'min';
  if (isBigInt(dtype)) {
    if (dtype === 'uint64') return highest ? 'Element(~0u)' : 'Element()';
    return highest ? 'Element(~0u, 0x7fffffffu)' : 'Element(0u, 0x80000000u)';
  }
  const bits = 8 * byteLength;
  if (category === 'uint') return `${highest ? 2 ** bits - 1 : 0}u`;
  return `i32(${highest ? 2 ** (bits - 1) - 1 : -(2 ** (bits - 1))})`;
}

function combine(kind: Reduction, dtype: DType): string {
  const isWide = isBigInt(dtype);
  switch (kind) {
    case 'sum':
    case 'mean':
      return `return ${isWide ? 'wide_add(a, b)' : 'a + b'};`;
    case 'prod':
      return `return ${isWide ? 'wide_mul(a, b)' : 'a * b'};`;
    case 'max':
    case 'min':
      return extremum(kind, dtype);
    default:
      return kind satisfies never;
  }
}

function extremum(kind: 'max' | 'min', dtype: DType): string {
  const [lower, higher] = kind === 'max' ? ['a', 'b'] : ['b', 'a'];
  if (isBigInt(dtype)) {
    const less = dtype === 'uint64' ? 'u64_lt' : 'i64_lt';
    return `return select(a, b, ${less}(${lower}, ${higher}));`;
  }
  if (wgslTypeName(dtype) !== 'f32') return `return ${kind}(a, b);`;
  // WGSL's max and min may leave out a NaN. `|`, since `||` branches: beside the branches of loads that are unrolled
  // around it a driver may not come to an end.
  return (
    'let is_nan = (bitcast<u32>(b) & 0x7fffffffu) > 0x7f800000u; ' +
    `return select(a, b, is_nan | (${lower} < ${higher}));`
  );
}

function element(dtype: DType, { from }: ReductionStage): string {
  if (from === 'input') return 'load_x(i)';
  if (isBigInt(dtype)) return 'Element(load_x(2u * i), load_x(2u * i + 1u))';
  return wgslTypeName(dtype) === 'i32' ? 'bitcast<i32>(load_x(i))' : 'load_x(i)';
}

function finish(kind: Reduction, dtype: DType, { to }: ReductionStage): string {
  if (to === 'scratch') {
    if (isBigInt(dtype)) return 'store_part(2u * i, value.x); store_part(2u * i + 1u, value.y);';
    return `store_part(i, ${partBits(dtype, 'value')});`;
  }
  if (kind !== 'mean') return 'store(i, value);';
  if (!isBigInt(dtype)) return 'store(i, value / Element(params.divisor));';
  const divide = dtype === 'uint64' ? 'u64_div' : 'i64_div';
  return `store(i, ${divide}(value, Element(params.divisor, 0u)));`;
}
