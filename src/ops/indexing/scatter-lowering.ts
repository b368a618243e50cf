import { storeOutput, invocationGrid, readInput, perInvocation } from '../element-kernel.ts';
import apply from '../../../shaders/scatter-apply.wgsl?raw';
import clear from '../../../shaders/scatter-clear.wgsl?raw';
import link from '../../../shaders/scatter-link.wgsl?raw';
import order from '../../../shaders/scatter-order.wgsl?raw';
import { elementCount } from '../../core/shape.ts';
import { stringAttribute } from '../attributes.ts';
import {
  type KernelParam,
  type KernelSpec,
  type LoweringCall,
  type ScratchOperand,
  u32,
} from '../lowering.ts';
import { operand } from '../operand-checks.ts';
import { combineWgsl } from './scatter-reduction.ts';

/** Where updates go, in rows of `run` elements. */
export interface ScatterPlaces {
  readonly run: number;
  readonly updateRows: number;
  /** Declares `fn row_of(update: u32) -> u32`, which gives OUTSIDE for rows that do not exist. */
  readonly source: string;
  readonly params: Readonly<Record<string, KernelParam>>;
}

/**
 * Scatters without atomic arithmetic, in time proportional to elements and updates: updates are
 * linked into a list for each row that they go to, each list is brought into the order of the
 * updates, and each element of the result applies its list. So sums of floats are the same every
 * time, and the last of several updates wins.
 */
export function lowerScatter(call: LoweringCall, places: ScatterPlaces): readonly KernelSpec[] {
  const count = elementCount(call.output.shape);
  const rows = count / places.run;
  const reduction = stringAttribute(call.attributes, 'reduction');
  if (count === 0) return [];
  const head = words(0, rows);
  const next = words(1, places.updateRows);
  const over = (items: number, name: string, params: KernelSpec['params']) => {
    const grid = invocationGrid(items, call.caps);
    return { ...grid, name, params: { row_length: grid.params.row_length, ...params } };
  };
  const constants = { ONLY_LAST: reduction === 'none' };
  const readHead = { hook: 'head', from: head, width: 1 } as const;
  const readNext = { hook: 'next', from: next, width: 1 } as const;
  const writeHead = { hook: 'head', to: head, width: 1 } as const;
  const writeNext = { hook: 'next', to: next, width: 1 } as const;
  return [
    {
      ...over(rows, 'scatter-clear', { rows: u32(rows) }),
      source: clear,
      constants: {},
      reads: [],
      writes: [writeHead],
    },
    {
      ...over(places.updateRows, 'scatter-link', {
        updates: u32(places.updateRows),
        ...places.params,
      }),
      source: `const OUTSIDE = 0xffffffffu;\n${indexAt(call)}${places.source}${link}`,
      constants: {},
      reads: [readInput('indices', 1)],
      writes: [writeNext],
      exchanges: [{ hook: 'head', to: head }],
    },
    {
      ...over(rows, 'scatter-order', { rows: u32(rows) }),
      source: order,
      constants,
      reads: [readHead, readNext],
      writes: [writeHead, writeNext],
    },
    {
      ...over(count, 'scatter-apply', { count: u32(count), run: u32(places.run) }),
      source: combineWgsl(call.output.dtype, reduction) + perInvocation(apply),
      constants,
      reads: [readInput('x', 0), readInput('updates', 2), readHead, readNext],
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
