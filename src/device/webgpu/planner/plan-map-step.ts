import type { LaunchBuffer, PlannerCaps } from '../../../core/launch-plan.ts';
import { elementCount } from '../../../core/shape.ts';
import { foldGroups } from '../../../ops/linear/fold-groups.ts';
import { findBlockTranspose, planBlockTranspose } from './block-transpose.ts';
import type { MapStep } from './partition-primitive.ts';
import type { PlanBuilder } from './plan-builder.ts';
import { Scope } from './scope.ts';
import { ShaderBuilder } from './shader-builder.ts';
import { writeElement } from './storage-access.ts';
import { ValueEmitter } from './value-emitter.ts';

const WORKGROUP_SIZE = 64;

/** One generated kernel that computes values without anchors, element by element. */
export function planMapStep(plan: PlanBuilder, step: MapStep): void {
  const count = elementCount(plan.type(step.values[0] ?? 0).shape);
  if (count === 0) return;
  const transpose = findBlockTranspose(plan, step);
  if (transpose !== undefined) {
    planBlockTranspose(plan, step, transpose);
    return;
  }
  const isWide = step.values.some((value) => plan.elementType(value) === 'i64');
  const width = count % 4 === 0 && !isWide ? 4 : 1;
  const shader = new ShaderBuilder(plan.caps.shaderF16);
  const emitter = new ValueEmitter(plan, shader);
  const items = count / width;
  const perInvocation = itemsPerInvocation(items, plan.caps);
  const { workgroups, rowLength } = foldGroups(
    Math.ceil(items / (WORKGROUP_SIZE * perInvocation)),
    plan.caps,
  );
  const itemCount = shader.param(items, 'u32', 'item_count');
  const row = shader.param(rowLength * WORKGROUP_SIZE, 'u32', 'row_length');
  const perLane = shader.param(perInvocation, 'u32', 'items_per_invocation');
  const scope = new Scope();
  const stores: string[] = [];
  const written: [number, LaunchBuffer][] = [];
  for (const value of step.values) {
    const result = emitter.emit(value, { linear: 'i', width }, scope);
    const { dtype } = plan.type(value);
    for (const buffer of plan.destinations(value)) {
      written.push([value, buffer]);
      stores.push(writeElement(shader, { buffer, dtype, width, index: 'i' }, result));
    }
  }
  scope.lines.push(...stores);
  // Only now: within this kernel a value must not be read from a buffer that it writes.
  for (const [value, buffer] of written) plan.markStored(value, buffer);
  const source = [
    `@compute @workgroup_size(${WORKGROUP_SIZE})`,
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

/**
 * On a software adapter a workgroup costs about a microsecond, so invocations take many items;
 * four lanes then walk through memory side by side. A GPU hides latency with more invocations.
 */
function itemsPerInvocation(items: number, caps: PlannerCaps): number {
  if (caps.adapterClass !== 'software') return 1;
  return Math.max(1, Math.min(64, Math.floor(items / (WORKGROUP_SIZE * 8))));
}

function mapLabel(plan: PlanBuilder, step: MapStep): string {
  const value = step.values[0] ?? 0;
  return plan.isParam(value) ? 'copy' : plan.callOf(value).op.name;
}
