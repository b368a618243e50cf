import type { LaunchBuffer, PlannerCaps } from '../../../core/contracts/launch-plan.ts';
import { elementCount, sameShape, type Shape } from '../../../core/tensor/shape.ts';
import { foldGroups } from '../../../ops/linear/fold-groups.ts';
import type { MapStep } from './partition-primitive.ts';
import type { PlanBuilder } from './plan-builder.ts';
import { Scope } from './scope.ts';
import { ShaderBuilder } from './shader-builder.ts';
import { writeElement } from './storage-access.ts';
import { ValueEmitter } from './value-emitter.ts';
import { vectorType } from './element-type.ts';

/** A batch of matrices (rows, columns) in the output, which are (columns, rows) in the source. */
interface BlockTranspose {
  /** The values that are such permutations, each of its first input. */
  readonly calls: readonly number[];
  readonly batch: number;
  readonly rows: number;
  readonly columns: number;
}

/**
 * The transpose among the values of a step, when blocks of 4x4 elements can be turned in
 * registers: groups of four are read and written as they lie in memory.
 */
function findBlockTranspose(plan: PlanBuilder, { values }: MapStep): BlockTranspose | undefined {
  const seen = new Set(values);
  let found: BlockTranspose | undefined;
  for (const value of seen) {
    if (plan.elementType(value) === 'i64') return undefined;
    if (plan.storedIn(value) !== undefined) continue;
    const { op, inputs, attributes } = plan.callOf(value);
    const { shape } = plan.type(value);
    const perm = op.indexMap?.permutation?.(attributes);
    if (perm !== undefined) {
      const swap = swappedAxes(perm, shape);
      if (swap === undefined) continue;
      if (found === undefined) found = { ...swap, calls: [value] };
      else if (sameSwap(found, swap)) found = { ...found, calls: [...found.calls, value] };
    } else if (op.indexMap?.keepsOrder === true) {
      seen.add(inputs[0] ?? 0);
    } else if (op.kind === 'elementwise') {
      for (const input of inputs) if (sameShape(plan.type(input).shape, shape)) seen.add(input);
    }
  }
  return found;
}

type Swap = Omit<BlockTranspose, 'calls'>;

const sameSwap = (a: Swap, b: Swap) =>
  a.batch === b.batch && a.rows === b.rows && a.columns === b.columns;

/** The permutation as one of three axes that keeps the first; undefined unless it is one, by fours. */
function swappedAxes(perm: readonly number[], shape: Shape): Swap | undefined {
  const axes = perm.flatMap((from, axis) => (shape[axis] === 1 ? [] : [{ from, axis }]));
  const order = axes.map(({ from }) => from).sort((a, b) => a - b);
  const places = axes.map(({ from }) => order.indexOf(from));
  const kept = places.findIndex((place, i) => place !== i);
  const split = places.indexOf(kept);
  const isSwap =
    kept >= 0 &&
    places.every((place, i) => i <= kept || i === split || place === (places[i - 1] ?? 0) + 1);
  const size = (from: number, to?: number) =>
    axes.slice(from, to).reduce((product, { axis }) => product * (shape[axis] ?? 1), 1);
  if (!isSwap) return undefined;
  const swap = { batch: size(0, kept), rows: size(kept, split), columns: size(split) };
  return swap.rows % 4 === 0 && swap.columns % 4 === 0 ? swap : undefined;
}

/** How the invocations that run side by side share the blocks of a matrix, and how many each takes. */
interface BlockTile {
  readonly rows: number;
  readonly columns: number;
  /** Blocks below each other that an invocation takes one after another. */
  readonly steps: number;
}

/**
 * Four lanes of a software adapter share whole cache lines of the result, and walk along those of the
 * source. A GPU's workgroup reads and writes 128 adjacent bytes either way.
 */
export function chooseBlockTile(
  { batch, rows, columns }: Omit<BlockTranspose, 'calls'>,
  { adapterClass }: PlannerCaps,
): BlockTile {
  if (adapterClass !== 'software') return { rows: 8, columns: 8, steps: 1 };
  const blocks = (batch * rows * columns) / 16;
  const steps = Math.max(1, Math.min(16, rows / 4, Math.floor(blocks / 1024)));
  return { rows: 1, columns: 4, steps: Math.floor(steps) };
}

/** A kernel that computes the values of a step in blocks of 4x4 elements. */
function planBlockTranspose(plan: PlanBuilder, { values }: MapStep, found: BlockTranspose): void {
  const shader = new ShaderBuilder(plan.caps.shaderF16);
  const emitter = new ValueEmitter(plan, shader);
  const scope = new Scope();
  const tile = chooseBlockTile(found, plan.caps);
  const [rows, columns] = [found.rows / 4, found.columns / 4];
  const across = Math.ceil(columns / tile.columns);
  const down = Math.ceil(rows / (tile.rows * tile.steps));
  const lanes = tile.rows * tile.columns;
  const { workgroups, rowLength } = foldGroups(
    Math.ceil((found.batch * down * across * lanes) / WORKGROUP_SIZE),
    plan.caps,
  );
  const [batchCount, rowCount, columnCount, downCount, acrossCount, steps, row] = [
    found.batch,
    rows,
    columns,
    down,
    across,
    tile.steps,
    rowLength * WORKGROUP_SIZE,
  ].map((value) => shader.param(value, 'u32'));
  for (const call of found.calls) turnBlock(plan, call, { emitter, scope });
  const written: [number, LaunchBuffer][] = [];
  for (const value of values) {
    const { dtype } = plan.type(value);
    const results = LANES.map((lane) =>
      emitter.emit(value, { linear: `to${lane}`, width: 4 }, scope),
    );
    for (const buffer of plan.destinations(value)) {
      written.push([value, buffer]);
      for (const lane of LANES) {
        const access = { buffer, dtype, width: 4, index: `to${lane}` } as const;
        scope.lines.push(writeElement(shader, access, results[lane] ?? ''));
      }
    }
  }
  for (const [value, buffer] of written) plan.markStored(value, buffer);
  const source = [
    `@compute @workgroup_size(${WORKGROUP_SIZE})`,
    'fn main(@builtin(global_invocation_id) id: vec3<u32>) {',
    `  let index = id.x + id.y * ${row};`,
    `  let tile = index / ${lanes}u;`,
    `  let lane = index % ${lanes}u;`,
    `  let band = tile / ${acrossCount};`,
    `  let batch = band / ${downCount};`,
    `  let c = (tile - band * ${acrossCount}) * ${tile.columns}u + lane / ${tile.rows}u;`,
    `  let top = (band - batch * ${downCount}) * ${steps} * ${tile.rows}u + lane % ${tile.rows}u;`,
    `  if (batch >= ${batchCount} || c >= ${columnCount}) {`,
    '    return;',
    '  }',
    `  for (var n = 0u; n < ${steps}; n++) {`,
    `    let r = top + n * ${tile.rows}u;`,
    `    if (r >= ${rowCount}) {`,
    '      return;',
    '    }',
    `    let from0 = (batch * ${columnCount} + c) * 4u * ${rowCount} + r;`,
    `    let to0 = (batch * ${rowCount} + r) * 4u * ${columnCount} + c;`,
    ...LANES.slice(1).flatMap((lane) => [
      `    let from${lane} = from${lane - 1} + ${rowCount};`,
      `    let to${lane} = to${lane - 1} + ${columnCount};`,
    ]),
    ...scope.indented().map((line) => `  ${line}`),
    '  }',
    '}',
    '',
  ].join('\n');
  plan.addLaunch({
    label: 'transpose',
    code: shader.code(source),
    bindings: shader.bindings,
    params: shader.params,
    workgroups,
  });
}

const WORKGROUP_SIZE = 64;
const LANES = [0, 1, 2, 3] as const;

/** Four groups of the source become the elements of four groups of the permutation. */
function turnBlock(plan: PlanBuilder, call: number, { emitter, scope }: Emission): void {
  const source = plan.callOf(call).inputs[0] ?? 0;
  const read = LANES.map((lane) =>
    emitter.emit(source, { linear: `from${lane}`, width: 4 }, scope),
  );
  const type = vectorType(plan.elementType(call), 4);
  for (const lane of LANES) {
    const turned = `${type}(${read.map((group) => `${group}[${lane}]`).join(', ')})`;
    const name = scope.let(`turned${call}_${lane}`, turned);
    scope.define(call, { linear: `to${lane}`, width: 4 }, name);
  }
}

interface Emission {
  readonly emitter: ValueEmitter;
  readonly scope: Scope;
}

/** One generated kernel that computes values without anchors, element by element. */
export function planMapStep(plan: PlanBuilder, step: MapStep): void {
  const count = elementCount(plan.type(step.values[0] ?? 0).shape);
  if (count === 0) return;
  const transpose = step.into === undefined ? findBlockTranspose(plan, step) : undefined;
  if (transpose !== undefined) {
    planBlockTranspose(plan, step, transpose);
    return;
  }
  const isWide = step.values.some((value) => plan.elementType(value) === 'i64') || isNarrow(plan);
  const width = count % 4 === 0 && !isWide ? 4 : 1;
  const shader = new ShaderBuilder(plan.caps.shaderF16);
  const emitter = new ValueEmitter(plan, shader);
  const items = count / width;
  const { groupSize, perInvocation } = spread(items, plan.caps);
  const { workgroups, rowLength } = foldGroups(
    Math.ceil(items / (groupSize * perInvocation)),
    plan.caps,
  );
  const itemCount = shader.param(items, 'u32', 'item_count');
  const row = shader.param(rowLength * groupSize, 'u32', 'row_length');
  const perLane = shader.param(perInvocation, 'u32', 'items_per_invocation');
  const scope = new Scope();
  const stores: string[] = [];
  const written: [number, LaunchBuffer][] = [];
  for (const value of step.values) {
    const result = emitter.emit(value, { linear: 'i', width }, scope);
    const { dtype } = plan.type(value);
    for (const buffer of step.into ?? plan.destinations(value)) {
      if (step.into === undefined) written.push([value, buffer]);
      stores.push(writeElement(shader, { buffer, dtype, width, index: 'i' }, result));
    }
  }
  scope.lines.push(...stores);
  // Only now: within this kernel a value must not be read from a buffer that it writes.
  for (const [value, buffer] of written) plan.markStored(value, buffer);
  const source = [
    `@compute @workgroup_size(${groupSize})`,
    'fn main(@builtin(global_invocation_id) id: vec3<u32>) {',
    `  let lane = id.x + id.y * ${row};`,
    `  let first = (lane & ~3u) * ${perLane} + (lane & 3u);`,
    `  for (var n = 0u; n < ${perLane}; n++) {`,
    '    let i = first + n * 4u;',
    `    if (i >= ${itemCount}) {`,
    '      return;',
    '    }',
    ...scope.indented().map((line) => `  ${line}`),
    '  }',
    '}',
    '',
  ].join('\n');
  plan.addLaunch({
    label: mapLabel(plan, step),
    code: shader.code(source),
    bindings: shader.bindings,
    params: shader.params,
    workgroups,
  });
}

/** Lanes of 64-bit integers are read one by one, and no buffer is bound in two widths to be written. */
function isNarrow(plan: PlanBuilder): boolean {
  return plan.inPlace !== undefined && plan.hasWideValues;
}

interface Spread {
  /** Invocations of a workgroup. */
  readonly groupSize: number;
  /** Items that each invocation does. */
  readonly perInvocation: number;
}

/**
 * On a software adapter a workgroup costs about a microsecond and four of its lanes a tenth, so there
 * are few lanes with many items, one workgroup up to 64 items; four lanes walk through memory side by
 * side. A GPU hides latency with more invocations.
 */
function spread(items: number, { adapterClass }: PlannerCaps): Spread {
  if (adapterClass !== 'software') return { groupSize: 64, perInvocation: 1 };
  const least = Math.min(4, Math.ceil(items / 16));
  return { groupSize: 16, perInvocation: Math.max(least, Math.min(256, Math.floor(items / 128))) };
}

function mapLabel(plan: PlanBuilder, step: MapStep): string {
  const value = step.values[0] ?? 0;
  return plan.isParam(value) ? 'copy' : plan.callOf(value).op.name;
}
