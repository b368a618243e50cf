import lists from '../../../shaders/lib/scatter-lists.wgsl?raw';
import begin from '../../../shaders/scatter-begin.wgsl?raw';
import change from '../../../shaders/scatter-change.wgsl?raw';
import few from '../../../shaders/scatter-few.wgsl?raw';
import link from '../../../shaders/scatter-link.wgsl?raw';
import touch from '../../../shaders/scatter-touch.wgsl?raw';
import type { DType } from '../../core/tensor/dtype.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { stringAttribute } from '../attributes.ts';
import {
  invocationGrid,
  perInvocation,
  readInput,
  storeOutput,
} from '../lowering/element-kernel.ts';
import { renderScalar } from '../formula/wgsl/render-scalar.ts';
import type { RenderOptions } from '../formula/wgsl/render-wgsl.ts';
import {
  type KernelParam,
  type KernelSpec,
  type LoweringCall,
  type ScratchOperand,
  u32,
} from '../lowering/lowering.ts';
import { operand } from '../operand-checks.ts';
import { combination, contextOf } from './scatter-reduction.ts';

/** The rows that updates go to, each of `run` elements. */
export interface ScatterPlaces {
  readonly run: number;
  readonly updateRows: number;
  /** Declares `fn row_of(update: u32) -> u32`, which gives OUTSIDE for rows that do not exist. */
  readonly source: string;
  readonly params: Readonly<Record<string, KernelParam>>;
}

/** So many rows of updates look for each other without lists. */
const MAX_FEW = 16;

/** The element of x, where it is changed. */
const READ_X = { hook: 'x', from: { kind: 'output' }, width: 1 } as const;

/**
 * Scatters in place, without atomic arithmetic, in time proportional to the updates: they are linked into a list
 * for each row that they go to, each list is brought into the order of the updates, and each element of a row
 * that has one applies it. So sums of floats are the same every time, and the last of several updates wins.
 */
export function lowerScatter(call: LoweringCall, places: ScatterPlaces): readonly KernelSpec[] {
  const count = elementCount(call.output.shape);
  if (count === 0 || places.updateRows === 0) return [];
  const reduction = stringAttribute(call.attributes, 'reduction');
  const rows = `const OUTSIDE = 0xffffffffu;\n${indexAt(call)}${places.source}`;
  const combine = combineWgsl(call.output.dtype, reduction);
  const elements = places.updateRows * places.run;
  const elementParams = { count: u32(elements), run: u32(places.run) };
  const over = (items: number, name: string, params: KernelSpec['params'] = {}) => {
    const grid = invocationGrid(items, call.caps);
    const { row_length } = grid.params;
    const all = { row_length, updates: u32(places.updateRows), ...places.params, ...params };
    return { ...grid, name, params: all };
  };
  const constants = { ONLY_LAST: reduction === 'none' };
  const readIndices = readInput('indices', 1);
  const readUpdates = readInput('updates', 2);
  if (places.updateRows <= MAX_FEW) {
    return [
      {
        ...over(elements, 'scatter-few', elementParams),
        source: rows + combine + perInvocation(few),
        constants,
        reads: [readIndices, READ_X, readUpdates],
        writes: storeOutput(),
      },
    ];
  }
  const head = words(0, count / places.run);
  const next = words(1, places.updateRows);
  const first = words(2, places.updateRows);
  const read = (hook: string, from: ScratchOperand) => ({ hook, from, width: 1 }) as const;
  const write = (hook: string, to: ScratchOperand) => ({ hook, to, width: 1 }) as const;
  const perUpdate = places.updateRows;
  return [
    {
      ...over(perUpdate, 'scatter-touch'),
      source: rows + touch,
      constants: {},
      reads: [readIndices],
      writes: [],
      exchanges: [{ hook: 'head', to: head }],
    },
    {
      ...over(perUpdate, 'scatter-link'),
      source: rows + link,
      constants: {},
      reads: [readIndices],
      writes: [write('next', next)],
      exchanges: [{ hook: 'head', to: head }],
    },
    {
      ...over(perUpdate, 'scatter-begin'),
      source: rows + lists + begin,
      constants,
      reads: [readIndices, read('head', head), read('next', next)],
      writes: [write('next', next), write('begin', first)],
    },
    {
      ...over(elements, 'scatter-change', elementParams),
      source: rows + combine + perInvocation(change),
      constants,
      reads: [readIndices, READ_X, readUpdates, read('begin', first), read('next', next)],
      writes: storeOutput(),
    },
  ];
}

/** Scratch is never empty: WebGPU binds no buffer of no bytes. */
function words(index: number, count: number): ScratchOperand {
  return { kind: 'scratch', index, byteLength: Math.max(count, 1) * 4, type: 'u32' };
}

/** The place of an index on an axis of some size; the size or more outside. */
function indexAt(call: LoweringCall): string {
  const isWide = operand(call.inputs, 1).dtype === 'int64';
  // An int64 that is no int32 lies outside of every axis.
  const index = isWide
    ? `let wide = load_indices(i);
  let index = bitcast<i32>(wide.x);
  if (bitcast<i32>(wide.y) != index >> 31u) {
    return size;
  }`
    : 'let index = load_indices(i);';
  return `fn place_at(i: u32, size: u32) -> u32 {
  ${index}
  return bitcast<u32>(index) + select(0u, size, index < 0);
}
`;
}

/** Declarations of `fn combine`. Where only the last update counts nothing calls it. */
function combineWgsl(dtype: DType, reduction: string): string {
  const formula = combination(reduction);
  const functions = new Map<string, string>();
  const lines: string[] = [];
  const options: RenderOptions = {
    operands: ['a', 'b'],
    width: 1,
    bind: (text) => {
      const name = `bound${lines.length}`;
      lines.push(`let ${name} = ${text};`);
      return name;
    },
    declare: (name, text) => functions.set(name, text),
  };
  const result = formula === undefined ? 'b' : renderScalar({ formula }, contextOf(dtype), options);
  const body = [...lines, `return ${result};`].join(' ');
  const combine = `fn combine(a: Element, b: Element) -> Element { ${body} }`;
  return [...functions.values(), combine, ''].join('\n');
}
