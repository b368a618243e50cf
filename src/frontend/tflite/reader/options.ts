import { field, type Fields, type FlatTable, type ValuesOf } from './flat-table.ts';

/** A table of options: its number in the union of all, and its fields. */
export interface Options<F extends Fields = Fields> {
  readonly union: number;
  readonly fields: F;
}

const { i8, i32, f32, bool, i32s, f32s, string } = field;

const options = <F extends Fields>(union: number, fields: F): Options<F> => ({ union, fields });

/** The values of options; defaults for those that are left out, or where the table is. */
export function readOptions<F extends Fields>(
  table: FlatTable | undefined,
  { fields }: Options<F>,
): ValuesOf<F> {
  const given = table ?? NO_TABLE;
  const values = Object.entries(fields).map(([name, one]) => [name, one.read(given, one.id)]);
  return Object.fromEntries(values) as ValuesOf<F>;
}

/** Reads as a table does that has no field. */
const NO_TABLE = {
  i8: (_: number, otherwise: number) => otherwise,
  u8: (_: number, otherwise: number) => otherwise,
  i32: (_: number, otherwise: number) => otherwise,
  f32: () => 0,
  i32s: () => undefined,
  f32s: () => undefined,
  string: () => undefined,
} as unknown as FlatTable;

const activation = (id: number) => ({ activation: i8(id) });
const window = { padding: i8(0), strideW: i32(1), strideH: i32(2) };

/** Options of the builtin operators that have any. */
export const OPTIONS = {
  conv2d: options(1, { ...window, ...activation(3), dilationW: i32(4, 1), dilationH: i32(5, 1) }),
  depthwiseConv2d: options(2, {
    ...window,
    multiplier: i32(3),
    ...activation(4),
    dilationW: i32(5, 1),
    dilationH: i32(6, 1),
  }),
  pool2d: options(5, { ...window, filterW: i32(3), filterH: i32(4), ...activation(5) }),
  svdf: options(6, { rank: i32(0), ...activation(1) }),
  rnn: options(7, activation(0)),
  fullyConnected: options(8, { ...activation(0), format: i8(1), keepDims: bool(2) }),
  softmax: options(9, { beta: f32(0) }),
  concatenation: options(10, { axis: i32(0), ...activation(1) }),
  add: options(11, activation(0)),
  responseNormalization: options(13, { radius: i32(0), bias: f32(1), alpha: f32(2), beta: f32(3) }),
  lstm: options(14, { ...activation(0), cellClip: f32(1), projectionClip: f32(2), kernel: i8(3) }),
  resizeBilinear: options(15, { alignCorners: bool(2), halfPixel: bool(3) }),
  reshape: options(17, { shape: i32s(0) }),
  spaceToDepth: options(19, { block: i32(0) }),
  mul: options(21, activation(0)),
  gather: options(23, { axis: i32(0), batchDims: i32(1) }),
  reducer: options(27, { keepDims: bool(0) }),
  sub: options(28, activation(0)),
  div: options(29, activation(0)),
  squeeze: options(30, { axes: i32s(0) }),
  sequenceRnn: options(31, { timeMajor: bool(0), ...activation(1) }),
  stridedSlice: options(32, {
    begin: i32(0),
    end: i32(1),
    ellipsis: i32(2),
    newAxis: i32(3),
    shrink: i32(4),
    offset: bool(5),
  }),
  split: options(35, { count: i32(0) }),
  cast: options(37, { from: i8(0), to: i8(1) }),
  argMax: options(40, { type: i8(0) }),
  transposeConv: options(49, { ...window, ...activation(3) }),
  shape: options(55, { type: i8(0) }),
  argMin: options(57, { type: i8(0) }),
  fakeQuant: options(58, { min: f32(0), max: f32(1), bits: i32(2), narrow: bool(3) }),
  pack: options(59, { count: i32(0), axis: i32(1) }),
  oneHot: options(61, { axis: i32(0) }),
  unpack: options(64, { count: i32(0), axis: i32(1) }),
  bidirectionalLstm: options(69, {
    ...activation(0),
    cellClip: f32(1),
    projectionClip: f32(2),
    merge: bool(3),
    timeMajor: bool(4, true),
  }),
  bidirectionalRnn: options(70, { timeMajor: bool(0), ...activation(1), merge: bool(2) }),
  unidirectionalLstm: options(71, {
    ...activation(0),
    cellClip: f32(1),
    projectionClip: f32(2),
    timeMajor: bool(3),
    diagonal: bool(5),
  }),
  resizeNearest: options(74, { alignCorners: bool(0), halfPixel: bool(1) }),
  leakyRelu: options(75, { alpha: f32(0) }),
  mirrorPad: options(77, { mode: i8(0) }),
  splitV: options(79, { count: i32(0) }),
  unique: options(80, { type: i8(0, 2) }),
  reverseSequence: options(87, { axis: i32(0), batchAxis: i32(1) }),
  if: options(92, { thenGraph: i32(0), elseGraph: i32(1) }),
  while: options(93, { condition: i32(0), body: i32(1) }),
  depthToSpace: options(94, { block: i32(0) }),
  batchMatMul: options(101, { adjointX: bool(0), adjointY: bool(1) }),
  cumsum: options(102, { exclusive: bool(0), reverse: bool(1) }),
  callOnce: options(103, { graph: i32(0) }),
  conv3d: options(106, {
    padding: i8(0),
    strideD: i32(1),
    strideW: i32(2),
    strideH: i32(3),
    ...activation(4),
    dilationD: i32(5, 1),
    dilationW: i32(6, 1),
    dilationH: i32(7, 1),
  }),
  varHandle: options(111, { container: string(0), name: string(1) }),
  bucketize: options(115, { boundaries: f32s(0) }),
  gelu: options(116, { approximate: bool(0) }),
} as const;

/** Options by name. */
export type OptionName = keyof typeof OPTIONS;
