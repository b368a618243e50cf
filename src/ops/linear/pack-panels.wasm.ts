import { FLOAT, plus, times } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { forParts } from '../../wasm/for-parts.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import type { OperandPack } from '../lowering/wasm-lowering.ts';

/** A matrix as panels hold it: some lanes side by side, for one depth after the other. */
export interface PanelLayout {
  /** Rows of a, or columns of b. */
  readonly lanes: number;
  readonly depth: number;
  /** Elements from one lane to the next, and from one depth to the next. */
  readonly laneStride: number;
  readonly depthStride: number;
  /** Lanes of a panel, a multiple of four. */
  readonly width: number;
}

const panelCount = ({ lanes, width }: PanelLayout): number => Math.ceil(lanes / width);
export const panelByteLength = ({ depth, width }: PanelLayout): number => depth * width * FLOAT;

/** An operand of which all panels are made at once. */
export function panelPack(operand: number, layout: PanelLayout): OperandPack {
  const [from, to] = w.locals(2);
  const { lanes, depth, laneStride, depthStride, width } = layout;
  const all: WasmFunction = {
    name: 'all',
    params: [from, to],
    body: [s.call('pack', [from, to, w.i32(0), w.i32(panelCount(layout))])],
  };
  return {
    operand,
    layout: `panels ${[lanes, depth, laneStride, depthStride, width].join()}`,
    byteLength: panelCount(layout) * panelByteLength(layout),
    functions: [packFunction('pack', layout), all],
  };
}

/** `pack(from, to, first, end)`: writes the panels from `first` up to `end`, zeros where there are no more lanes. */
export function packFunction(name: string, layout: PanelLayout): WasmFunction {
  const { lanes, laneStride, width } = layout;
  const [from, to, first, end, panel, source, target] = w.locals(7);
  return {
    name,
    params: [from, to, first, end],
    body: [
      s.set(target, to),
      ...forParts({ index: panel, first, end, count: lanes, width }, (count) => [
        s.set(source, plus(from, times(panel, width * laneStride * FLOAT))),
        ...copyDepths(layout, { source, target, count }),
      ]),
    ],
  };
}

interface Panel {
  readonly source: Local;
  readonly target: Local;
  /** How many lanes of the panel there are rows or columns for. */
  readonly count: number;
}

/** All depths of a panel; both pointers move along. */
function copyDepths(layout: PanelLayout, { source, target, count }: Panel): Statement[] {
  const { depth, laneStride, depthStride, width } = layout;
  const row = w.local('i32');
  const together = depthStride === 1 && laneStride !== 1 ? 4 : 1;
  const rounds = Math.floor(depth / together);
  const move = (depths: number): Statement[] => [
    s.increment(source, depths * depthStride * FLOAT),
    s.increment(target, depths * width * FLOAT),
  ];
  const place = { source, target, count };
  const round = together === 4 ? copySquares(layout, place) : copyDepth(layout, place, 0);
  return [
    ...s.loop({ index: row, end: w.i32(rounds) }, [...round, ...move(together)]),
    ...(depth % together === 0
      ? []
      : [
          ...Array.from({ length: depth % together }, (_, at) =>
            copyDepth(layout, place, at),
          ).flat(),
          ...move(depth % together),
        ]),
  ];
}

/** The lanes of one depth, `at` behind the pointers. */
function copyDepth(
  { laneStride, depthStride, width }: PanelLayout,
  { source, target, count }: Panel,
  at: number,
): Statement[] {
  const from = at * depthStride * FLOAT;
  const to = at * width * FLOAT;
  const copied: Statement[] = [];
  for (let lane = 0; lane < width; ) {
    const isWhole = laneStride === 1 && lane + 4 <= count;
    const isZero = lane >= count;
    if (isWhole || (isZero && lane % 4 === 0)) {
      const value = isWhole ? w.load('v128', source, from + lane * FLOAT) : w.f32x4(0);
      copied.push(s.store('v128', { address: target, offset: to + lane * FLOAT }, value));
      lane += 4;
    } else {
      const value = isZero ? w.i32(0) : w.load('i32', source, from + lane * laneStride * FLOAT);
      copied.push(s.store('i32', { address: target, offset: to + lane * FLOAT }, value));
      lane++;
    }
  }
  return copied;
}

/** Four depths, which lie side by side, of each lane: squares of four by four are transposed. */
function copySquares(
  { laneStride, width }: PanelLayout,
  { source, target, count }: Panel,
): Statement[] {
  const statements: Statement[] = [];
  for (let lane = 0; lane < width; lane += 4) {
    const rows = Array.from({ length: 4 }, (_, i) => {
      const row = w.local('v128');
      const isThere = lane + i < count;
      const value = isThere ? w.load('v128', source, (lane + i) * laneStride * FLOAT) : w.f32x4(0);
      statements.push(s.set(row, value));
      return row;
    });
    for (const [at, value] of transposed(rows, statements).entries()) {
      const offset = (at * width + lane) * FLOAT;
      statements.push(s.store('v128', { address: target, offset }, value));
    }
  }
  return statements;
}

/** Lane i of vector j becomes lane j of vector i. */
export function transposed(
  [a, b, c, d]: readonly Expression[],
  statements: Statement[],
): readonly Expression[] {
  if (!(a && b && c && d)) return [];
  const bind = s.binder(statements);
  const [low, high] = [
    [0, 4, 1, 5],
    [2, 6, 3, 7],
  ] as const;
  const [ab, abHigh, cd, cdHigh] = [
    bind(w.shuffle32(a, b, low)),
    bind(w.shuffle32(a, b, high)),
    bind(w.shuffle32(c, d, low)),
    bind(w.shuffle32(c, d, high)),
  ];
  return [
    w.shuffle32(ab, cd, [0, 1, 4, 5]),
    w.shuffle32(ab, cd, [2, 3, 6, 7]),
    w.shuffle32(abHigh, cdHigh, [0, 1, 4, 5]),
    w.shuffle32(abHigh, cdHigh, [2, 3, 6, 7]),
  ];
}
