import { FLOAT, plus, times, lesser } from '../../wasm/address.ts';
import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import { add, mul, sub } from '../../wasm/floats.ts';
import { byFours } from '../../wasm/for-parts.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { boolAttribute, floatAttribute, stringAttribute } from '../attributes.ts';
import { elementAccess } from '../lowering/element-access.ts';
import { productKernel } from '../linear/product.wasm.ts';
import { innerKernel } from '../lowering/wasm-kernels.ts';
import type { WasmCall, WasmLowering } from '../lowering/wasm-lowering.ts';
import type { ActivationCall } from './activations.ts';
import { activate } from './activations.wasm.ts';
import { activationsOf, CELLS, type CellName, cellOf, sizesOf } from './recurrent-cell.ts';
import { plainProblem } from '../linear/matmul-problem.ts';

/** For each direction and step a product of the states of all sequences, then the units of each. */
export const recurrentWasm: WasmLowering = (given) => {
  if (given.output.dtype !== 'float32') return undefined;
  const problem = recurrentProblem(given);
  const { cell, steps, batch, directions, hidden, width, isLate } = problem;
  const { states } = CELLS[cell];
  const product = innerKernel(
    productKernel(plainProblem({ m: batch, n: width, k: hidden })),
    'product_',
  );
  const keeps = cell === 'gru' && !isLate;
  const layout = { states: batch * hidden, sums: batch * width };
  const scratch = [layout.states, layout.states, layout.sums, layout.states, layout.sums];
  return {
    functions: [...product.functions, ...unitFunctions(problem, keeps)],
    scratch: [...scratch.map((count) => Math.max(count, 4) * FLOAT), ...product.scratch],
    body({ inputs: [x, r, initial, vectors, lengths], output, scratch: memory }) {
      const [h, c, sums, kept, keptSums, ...rest] = memory;
      if (!(x && r && initial && h && c && sums && kept && keptSums)) return [];
      const [step, sequence, place] = w.locals(3);
      const count = directions * batch * hidden;
      const multiply = (weights: Local, from: Local, to: Local): readonly Statement[] => {
        const places = { inputs: [from, weights], output: to, scratch: rest };
        return [...product.pack(places, 0), ...product.run(places)];
      };
      const body = (d: number): Statement[] => {
        const weights = w.local('i32');
        const isReverse = problem.direction === 'reverse' || d === 1;
        const group = plus(sequence, d * batch);
        const [row, unit] = [times(sequence, width * FLOAT), times(sequence, hidden * FLOAT)];
        const projected = plus(
          x,
          times(plus(times(plus(times(place, batch), sequence), directions), d), width * FLOAT),
        );
        const result = plus(
          output,
          plus(times(place, count * FLOAT), times(group, hidden * FLOAT)),
        );
        /** The statements for each sequence that has the step. */
        const ofActive = (statements: readonly Statement[]): Statement[] =>
          s.loop({ index: sequence, end: w.i32(batch) }, [
            ...placeOf({ place, step, steps, isReverse, sequence, lengths }),
            ...s.when(isWithin(place, steps), statements),
          ]);
        const copyRow = (from: number, to: Expression, at: Expression): Statement =>
          s.call('copy', [to, plus(at, from * FLOAT)]);
        return [
          s.set(weights, plus(r, d * hidden * width * FLOAT)),
          ...product.pack({ inputs: [h, weights], output: sums, scratch: rest }, 1),
          ...s.loop({ index: sequence, end: w.i32(batch) }, [
            copyRow(0, plus(h, unit), plus(initial, times(group, hidden * FLOAT))),
            ...(states > 1
              ? [copyRow(count, plus(c, unit), plus(initial, times(group, hidden * FLOAT)))]
              : []),
            ...s.loop({ index: step, end: w.i32(steps) }, [
              s.call('clear', [
                plus(output, plus(times(step, count * FLOAT), times(group, hidden * FLOAT))),
              ]),
            ]),
          ]),
          ...s.loop({ index: step, end: w.i32(steps) }, [
            ...multiply(weights, h, sums),
            ...(keeps
              ? [
                  ...ofActive([
                    s.call(`keep${d}`, [
                      projected,
                      plus(sums, row),
                      plus(h, unit),
                      plus(kept, unit),
                    ]),
                  ]),
                  ...multiply(weights, kept, keptSums),
                ]
              : []),
            ...ofActive([
              s.call(`units${d}`, [
                projected,
                plus(sums, row),
                plus(keptSums, row),
                plus(h, unit),
                plus(c, unit),
                result,
                plus(vectors ?? x, d * CELLS[cell].vectors * hidden * FLOAT),
              ]),
            ]),
          ]),
          ...s.loop({ index: sequence, end: w.i32(batch) }, [
            copyRow(
              0,
              plus(plus(output, times(group, hidden * FLOAT)), steps * count * FLOAT),
              plus(h, unit),
            ),
            ...(states > 1
              ? [
                  copyRow(
                    0,
                    plus(plus(output, times(group, hidden * FLOAT)), (steps + 1) * count * FLOAT),
                    plus(c, unit),
                  ),
                ]
              : []),
          ]),
        ];
      };
      if (batch * hidden === 0) return [];
      return Array.from({ length: directions }, (_, d) => body(d)).flat();
    },
  };
};

interface RecurrentProblem {
  readonly cell: CellName;
  readonly steps: number;
  readonly batch: number;
  readonly directions: number;
  readonly hidden: number;
  /** How many products each step of a sequence takes. */
  readonly width: number;
  readonly direction: string;
  readonly clip: number;
  readonly isLate: boolean;
  readonly isCoupled: boolean;
  readonly hasVectors: boolean;
  readonly activations: readonly (readonly ActivationCall[])[];
}

function recurrentProblem({ inputs, attributes }: WasmCall): RecurrentProblem {
  const sizes = sizesOf(inputs, attributes);
  const cell = cellOf(attributes);
  return {
    ...sizes,
    cell,
    width: CELLS[cell].gates * sizes.hidden,
    direction: stringAttribute(attributes, 'direction'),
    clip: floatAttribute(attributes, 'clip'),
    isLate: boolAttribute(attributes, 'linear_before_reset'),
    isCoupled: boolAttribute(attributes, 'input_forget'),
    hasVectors: inputs[3] !== undefined,
    activations: activationsOf(attributes),
  };
}

interface StepPlace {
  readonly place: Local;
  readonly step: Local;
  readonly steps: number;
  readonly isReverse: boolean;
  readonly sequence: Local;
  readonly lengths: Local | undefined;
}

/** Where in its sequence a step is; outside of it for a sequence that has ended. */
function placeOf({ place, step, steps, isReverse, sequence, lengths }: StepPlace): Statement[] {
  if (lengths === undefined) {
    return [s.set(place, isReverse ? w.apply('i32.sub', w.i32(steps - 1), step) : step)];
  }
  const length = w.local('i32');
  const backward = w.apply('i32.sub', w.apply('i32.sub', length, w.i32(1)), step);
  const isActive = w.apply('i32.lt_s', step, length);
  return [
    s.set(length, w.load('i32', plus(lengths, times(sequence, 4)))),
    s.set(length, lesser(length, steps)),
    s.set(place, w.select(isActive, isReverse ? backward : step, w.i32(-1))),
  ];
}

const isWithin = (place: Local, steps: number): Expression =>
  w.apply('i32.lt_u', place, w.i32(steps));

/** `copy(to, from)`, `clear(to)`, and for each direction `keep` and `units`. */
function unitFunctions(problem: RecurrentProblem, keeps: boolean): WasmFunction[] {
  const { hidden, activations } = problem;
  const [to, from, cleared] = w.locals(3);
  return [
    {
      name: 'copy',
      params: [to, from],
      body: forUnits(hidden, [to, from], ({ at, write }) => write(to, at(from))),
    },
    {
      name: 'clear',
      params: [cleared],
      body: forUnits(hidden, [cleared], ({ write }) => write(cleared, w.f32x4(0))),
    },
    ...activations.flatMap((calls, d) => [
      ...(keeps ? [keepFunction(problem, calls, d)] : []),
      unitsFunction(problem, calls, d),
    ]),
  ];
}

interface Units {
  /** Four units of a row, or the last ones. */
  readonly at: (row: Local, offset?: number) => Expression;
  readonly write: (row: Local, value: Expression) => Statement[];
  readonly statements: Statement[];
  readonly bind: (value: Expression) => Expression;
}

/** Loops over units by four; rows are walked along. */
function forUnits(
  hidden: number,
  rows: readonly Local[],
  body: (units: Units) => readonly Statement[],
): Statement[] {
  const access = elementAccess('float32');
  if (access === undefined) return [];
  const round = (count: number): Statement[] => {
    const statements: Statement[] = [];
    const bind = s.binder(statements);
    const written = body({
      statements,
      bind,
      at: (row, offset = 0) => access.read(row, offset * FLOAT, count),
      write: (row, value) => {
        const stored = w.local('v128');
        return [s.set(stored, value), ...access.write(row, 0, { value: stored, count })];
      },
    });
    return [...statements, ...written];
  };
  return byFours({ count: hidden, pointers: rows, steps: rows.map(() => FLOAT) }, round);
}

/** `keep(x, sums, h, kept)`: what the reset gate leaves of the states. */
function keepFunction(
  { hidden, clip }: RecurrentProblem,
  [f]: readonly ActivationCall[],
  d: number,
): WasmFunction {
  const [x, sums, h, kept] = w.locals(4);
  return {
    name: `keep${d}`,
    params: [x, sums, h, kept],
    body: forUnits(hidden, [x, sums, h, kept], ({ at, write, bind, statements }) => {
      const sum = bind(add(at(x, hidden), at(sums, hidden)));
      const gate = f === undefined ? sum : activate(f, clip, { x: sum, statements });
      return write(kept, mul(gate, at(h)));
    }),
  };
}

/** `units(x, sums, keptSums, h, c, y, vectors)`: a step of a sequence. */
function unitsFunction(
  problem: RecurrentProblem,
  calls: readonly ActivationCall[],
  d: number,
): WasmFunction {
  const params = w.locals(7);
  const [x, sums, keptSums, h, c, y, vectors] = params;
  const name = `units${d}`;
  if (!(x && sums && keptSums && h && c && y && vectors)) return { name, params, body: [] };
  const { hidden, cell, clip } = problem;
  const rows = { x, sums, keptSums, h, c, vectors };
  return {
    name,
    params,
    body: forUnits(hidden, params, (units) => {
      const { bind, write, statements } = units;
      const apply1 = (k: number, value: Expression): Expression => {
        const activation = calls[k];
        const bound = bind(value);
        return activation === undefined
          ? bound
          : bind(activate(activation, clip, { x: bound, statements }));
      };
      const [nextH, nextC] = EQUATIONS[cell]({ problem, units, rows, activate: apply1 });
      return [
        ...(nextC === undefined ? [] : write(c, nextC)),
        ...write(h, nextH),
        ...write(y, units.at(h)),
      ];
    }),
  };
}

interface Equation {
  readonly problem: RecurrentProblem;
  readonly units: Units;
  readonly rows: Readonly<Record<'x' | 'sums' | 'keptSums' | 'h' | 'c' | 'vectors', Local>>;
  readonly activate: (k: number, value: Expression) => Expression;
}

/** The next output and cell state of units. */
const EQUATIONS: Readonly<
  Record<CellName, (equation: Equation) => readonly [Expression, Expression?]>
> = {
  rnn: (equation) => [equation.activate(0, gateSum(equation, 0))],
  gru(equation) {
    const { problem, units, rows, activate: run } = equation;
    const { hidden, isLate, hasVectors } = problem;
    const keep = run(0, gateSum(equation, 0));
    const late = () => {
      const sum = units.at(rows.sums, 2 * hidden);
      const biased = hasVectors ? add(sum, units.at(rows.vectors)) : sum;
      return mul(run(0, gateSum(equation, 1)), biased);
    };
    const product = isLate ? late() : units.at(rows.keptSums, 2 * hidden);
    const next = run(1, add(units.at(rows.x, 2 * hidden), product));
    return [add(mul(sub(w.f32x4(1), keep), next), mul(keep, units.at(rows.h)))];
  },
  lstm(equation) {
    const { problem, units, rows, activate: run } = equation;
    const { hidden, hasVectors, isCoupled } = problem;
    const c = units.bind(units.at(rows.c));
    const peep = (sum: Expression, k: number, state: Expression) =>
      hasVectors ? add(sum, mul(units.at(rows.vectors, k * hidden), state)) : sum;
    const input = run(0, peep(gateSum(equation, 0), 0, c));
    const forget = isCoupled ? sub(w.f32x4(1), input) : run(0, peep(gateSum(equation, 2), 2, c));
    const cell = units.bind(add(mul(forget, c), mul(input, run(1, gateSum(equation, 3)))));
    const output = run(0, peep(gateSum(equation, 1), 1, cell));
    return [mul(output, run(2, cell)), cell];
  },
};

const gateSum = ({ problem: { hidden }, units, rows }: Equation, gate: number): Expression =>
  add(units.at(rows.x, gate * hidden), units.at(rows.sums, gate * hidden));
