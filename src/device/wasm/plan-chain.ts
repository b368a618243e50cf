import { computedDType, type DType } from '../../core/tensor/dtype.ts';
import { internalError } from '../../core/errors.ts';
import type { ConcreteTensorType } from '../../core/contracts/primitive-function.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { typedFormula } from '../../ops/formula/infer-types.ts';
import type { ChainStep, PlannedCall } from '../host/host-plan.ts';
import { apply, type Expression, i32, type Local, local, select } from '../../wasm/expression.ts';
import { increment, loop, set, type Statement, when } from '../../wasm/statement.ts';
import { inTurns, listsFor } from '../../wasm/in-turns.ts';
import type { UnitRange } from '../../ops/lowering/wasm-lowering.ts';
import { newUnitRange, type StepContext, type StepPlan } from './step-plan.ts';
import { laneAccess, type LaneAccess } from '../../ops/lowering/element-access.ts';
import type { Lanes } from '../../ops/formula/wasm/lanes.ts';
import { isLowered, lowerLanes } from '../../ops/formula/wasm/lower-formula.ts';
import { bitcast } from '../../ops/elementwise/bitcast.ts';
import { type LoopDim, loopDims } from '../../ops/lowering/loop-dims.ts';

/** Elements of a unit of a single loop. */
const BLOCK = 4096;

const NOTHING = { units: 1, body: [] };

/**
 * One loop nest for elementwise calls over one shape, four elements at a time: what only the chain knows
 * stays in registers. Undefined where a call has no formula that lanes compute.
 */
export function planChain(step: ChainStep, context: StepContext): StepPlan | undefined {
  const chain = readChain(step, context);
  return chain && new ChainPlanner(chain, context).plan();
}

/** Returns true if {@link planChain} can plan the chain; builds no code. */
export const isPlannedChain = (step: ChainStep, context: StepContext): boolean =>
  readChain(step, context) !== undefined;

interface Chain {
  readonly calls: readonly ChainCall[];
  /** Values that are read from memory. */
  readonly inputs: readonly number[];
  /** Values that are written to memory. */
  readonly outputs: readonly number[];
}

interface ChainCall extends PlannedCall {
  readonly compute: LaneFunction;
  /** Rounds the result to its dtype even where it stays in a local. */
  readonly rounds: boolean;
}

/** The result of four elements; the statements that come before it are added to the list. */
type LaneFunction = (operands: readonly Lanes[], statements: Statement[]) => Lanes;

function readChain({ calls }: ChainStep, { types, stored }: StepContext): Chain | undefined {
  const made = new Set<number>();
  const inputs = new Set<number>();
  const chained: ChainCall[] = [];
  for (const call of calls) {
    const operands = call.inputs.filter((value) => value >= 0);
    const dtypes = operands.map((value) => dtypeOf(types, value));
    const output = dtypeOf(types, call.value);
    const compute = laneFunction(call, dtypes, output);
    if (compute === undefined) return undefined;
    for (const value of operands) if (!made.has(value)) inputs.add(value);
    made.add(call.value);
    // Float16 values computed from float16 keep float32 precision until they are stored.
    const rounds = output !== 'float16' || !dtypes.includes('float16');
    chained.push({ ...call, inputs: operands, compute, rounds });
  }
  const outputs = [...made].filter((value) => stored.has(value));
  return { calls: chained, inputs: [...inputs], outputs };
}

function laneFunction(
  { op, attributes }: PlannedCall,
  dtypes: readonly DType[],
  output: DType,
): LaneFunction | undefined {
  if ([...dtypes, output].some((dtype) => laneAccess(dtype) === undefined)) return undefined;
  if (op.name === bitcast.name) return reinterpretation(dtypes[0] ?? output, output);
  const { formula } = op.scalar ?? {};
  if (formula === undefined) return undefined;
  const call = { attributes, dtypes: dtypes.map(computedDType), output: computedDType(output) };
  const typed = typedFormula(formula, call);
  if (!isLowered(typed)) return undefined;
  return (operands, statements) => lowerLanes(typed, { operands, statements });
}

/** The same bits as another dtype. */
function reinterpretation(from: DType, to: DType): LaneFunction | undefined {
  const [source, target] = [laneAccess(from), laneAccess(to)];
  return source && target && (([x = []]) => target.decode(source.encode(x)));
}

function dtypeOf(types: readonly ConcreteTensorType[], value: number): DType {
  return types[value]?.dtype ?? 'float32';
}

class ChainPlanner {
  readonly #chain: Chain;
  readonly #context: StepContext;
  readonly #values: readonly number[];
  readonly #params: readonly Local[];
  readonly #access: readonly LaneAccess[];

  constructor(chain: Chain, context: StepContext) {
    this.#chain = chain;
    this.#context = context;
    this.#values = [...chain.inputs, ...chain.outputs];
    this.#params = this.#values.map(() => local('i32'));
    this.#access = this.#values.map((value) => {
      const access = laneAccess(dtypeOf(context.types, value));
      if (access === undefined) throw internalError(`no access to value ${value}`);
      return access;
    });
  }

  plan(): StepPlan {
    const { types } = this.#context;
    const shapeOf = (value: number) => types[value]?.shape ?? [];
    const shape = shapeOf(this.#chain.calls[0]?.value ?? -1);
    const dims = loopDims(shape, this.#values.map(shapeOf));
    const range = newUnitRange();
    const count = elementCount(shape);
    const { units, body } = count === 0 ? NOTHING : this.#inUnits(dims, range);
    return {
      values: this.#values,
      packs: [],
      scratch: [],
      params: [...this.#params, range.first, range.end],
      units,
      work: count * this.#chain.calls.length,
      functions: [],
      body,
    };
  }

  /** Units are rounds of the outermost loop, of a single loop blocks of elements. */
  #inUnits(dims: readonly LoopDim[], range: UnitRange): { units: number; body: Statement[] } {
    const [dim, ...inner] = dims;
    if (dim === undefined) return NOTHING;
    if (inner.length > 0) {
      return { units: dim.size, body: this.#loop(dim, inner, { bases: this.#params, ...range }) };
    }
    const { size, strides } = dim;
    const blocks = Math.floor(size / BLOCK);
    if (blocks < 2) return { units: 1, body: this.#innermost(dim, this.#params) };
    const block = { size: blocks, strides: strides.map((stride) => stride * BLOCK) };
    const whole = { ...range, end: local('i32') };
    const left = size % BLOCK;
    const isBeyond = apply('i32.gt_s', range.end, i32(blocks));
    return {
      units: blocks + (left > 0 ? 1 : 0),
      body: [
        set(whole.end, select(isBeyond, i32(blocks), range.end)),
        ...this.#loop(block, [{ size: BLOCK, strides }], { bases: this.#params, ...whole }),
        ...(left > 0 ? when(isBeyond, this.#behind(block, { size: left, strides })) : []),
      ],
    };
  }

  /** The elements behind all blocks. */
  #behind(block: LoopDim, dim: LoopDim): Statement[] {
    const bases = this.#params.map(() => local('i32'));
    const begin = bases.map((target, i) => {
      const offset = (block.strides[i] ?? 0) * block.size * this.#byteLength(i);
      return set(target, apply('i32.add', this.#params[i] ?? i32(0), i32(offset)));
    });
    return [...begin, ...this.#innermost(dim, bases)];
  }

  /** Loops over `dims` from these addresses on. */
  #nest(dims: readonly LoopDim[], bases: readonly Local[]): Statement[] {
    const [dim, ...inner] = dims;
    if (dim === undefined) return [];
    if (inner.length === 0) return this.#innermost(dim, bases);
    return this.#loop(dim, inner, { bases, first: i32(0), end: i32(dim.size) });
  }

  /** Rounds of a loop around others. */
  #loop(dim: LoopDim, inner: readonly LoopDim[], { bases, first, end }: Rounds): Statement[] {
    const index = local('i32');
    const moved = bases.map((base, i) => ((dim.strides[i] ?? 0) === 0 ? base : local('i32')));
    const addresses = moved.flatMap((target, i) => {
      const base = bases[i];
      if (base === undefined || target === base) return [];
      const step = (dim.strides[i] ?? 0) * this.#byteLength(i);
      return [set(target, apply('i32.add', base, apply('i32.mul', index, i32(step))))];
    });
    return loop({ index, begin: first, end }, [...addresses, ...this.#nest(inner, moved)]);
  }

  #byteLength(i: number): number {
    return this.#access[i]?.byteLength ?? 0;
  }

  /** The innermost loop: by vectors, then what is left. */
  #innermost({ size, strides }: LoopDim, bases: readonly Local[]): Statement[] {
    const statements: Statement[] = [];
    const isFixed = (i: number) => strides[i] === 0 && size > 1;
    const fixed = this.#values.map((_, i) => {
      const base = bases[i];
      if (!isFixed(i) || base === undefined || i >= this.#chain.inputs.length) return undefined;
      return bindLanes(this.#access[i]?.readSplat(base) ?? [], statements);
    });
    const pointers = bases.map((base, i) => {
      if (isFixed(i)) return base;
      const pointer = local('i32');
      statements.push(set(pointer, base));
      return pointer;
    });
    const advance = (elements: number): Statement[] =>
      pointers.flatMap((pointer, i) =>
        isFixed(i) ? [] : [increment(pointer, elements * this.#byteLength(i))],
      );
    const vectors = Math.floor(size / 4);
    if (vectors === 0) return [...statements, ...this.#compute({ pointers, fixed }, 0, size)];
    const first = this.#compute({ pointers, fixed }, 0, 4);
    const perRound = listsFor(first);
    const rounds = Math.floor(vectors / perRound);
    const round = (count: number): Statement[] => [
      ...inTurns(
        Array.from({ length: count }, (_, k) =>
          k === 0 ? first : this.#compute({ pointers, fixed }, k * 4, 4),
        ),
      ),
      ...advance(count * 4),
    ];
    const [index, rest] = [local('i32'), vectors % perRound];
    if (rounds > 0) statements.push(...loop({ index, end: i32(rounds) }, round(perRound)));
    if (rest > 0) statements.push(...round(rest));
    const left = size % 4;
    if (left > 0) statements.push(...this.#compute({ pointers, fixed }, 0, left));
    return statements;
  }

  /** Four elements, or the first `count` of them, `offset` elements behind the pointers. */
  #compute({ pointers, fixed }: Operands, offset: number, count: number): Statement[] {
    const statements: Statement[] = [];
    const values = new Map<number, Lanes>();
    const bind = (value: number, lanes: Lanes): void => {
      values.set(value, bindLanes(lanes, statements));
    };
    const { inputs, outputs, calls } = this.#chain;
    for (const [i, value] of inputs.entries()) {
      const [splat, pointer, access] = [fixed[i], pointers[i], this.#access[i]];
      if (splat !== undefined) values.set(value, splat);
      else if (pointer !== undefined && access !== undefined) {
        bind(value, access.read(pointer, offset * access.byteLength, count));
      }
    }
    for (const { inputs: operands, value, compute, rounds } of calls) {
      const known = operands.map((operand) => values.get(operand) ?? missing(operand));
      const computed = bindLanes(compute(known, statements), statements);
      const access = laneAccess(dtypeOf(this.#context.types, value));
      bind(value, rounds && access !== undefined ? access.round(computed) : computed);
    }
    for (const [k, value] of outputs.entries()) {
      const i = inputs.length + k;
      const [pointer, access] = [pointers[i], this.#access[i]];
      if (pointer === undefined || access === undefined) continue;
      const lanes = { value: values.get(value) ?? missing(value), count };
      statements.push(...access.write(pointer, offset * access.byteLength, lanes));
    }
    return statements;
  }
}

interface Rounds {
  /** Addresses of the first round of all. */
  readonly bases: readonly Local[];
  readonly first: Expression;
  readonly end: Expression;
}

interface Operands {
  readonly pointers: readonly Local[];
  /** Values that are the same for all of the loop. */
  readonly fixed: readonly (Lanes | undefined)[];
}

/** Assigns each vector to a local. */
function bindLanes(lanes: Lanes, statements: Statement[]): Lanes {
  return lanes.map((value) => {
    if (value.kind === 'local') return value;
    const target = local('v128');
    statements.push(set(target, value));
    return target;
  });
}

function missing(value: number): never {
  throw internalError(`a chain without value ${value}`);
}
