import type { LaunchBuffer, PlannerCaps } from '../../../core/contracts/launch-plan.ts';
import { elementCount } from '../../../core/tensor/shape.ts';
import { foldGroups } from '../../../ops/linear/fold-groups.ts';
import { findBlockTranspose, planBlockTranspose } from './block-transpose.ts';
import type { MapStep } from './partition-primitive.ts';
import type { PlanBuilder } from './plan-builder.ts';
import { Scope } from './scope.ts';
import { ShaderBuilder } from './shader-builder.ts';
import { writeElement } from './storage-access.ts';
import { ValueEmitter } from './value-emitter.ts';

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
