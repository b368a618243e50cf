import { elementCount } from '../../../core/shape.ts';
import { toStorage } from './element-type.ts';
import { foldWorkgroups } from './fold-workgroups.ts';
import type { MapStep } from './partition-primitive.ts';
import type { PlanBuilder } from './plan-builder.ts';
import { Scope } from './scope.ts';
import { ShaderBuilder } from './shader-builder.ts';
import { ValueEmitter } from './value-emitter.ts';

const WORKGROUP_SIZE = 64;

/** One generated kernel that computes values without anchors, element by element. */
export function planMapStep(plan: PlanBuilder, step: MapStep): void {
  const count = elementCount(plan.type(step.values[0] ?? 0).shape);
  if (count === 0) return;
  const width = count % 4 === 0 ? 4 : 1;
  const shader = new ShaderBuilder();
  const emitter = new ValueEmitter(plan, shader);
  const items = count / width;
  const { workgroups, rowLength } = foldWorkgroups(
    Math.ceil(items / WORKGROUP_SIZE),
    plan.caps.maxComputeWorkgroupsPerDimension,
  );
  const itemCount = shader.param(items, 'u32', 'item_count');
  const row = shader.param(rowLength * WORKGROUP_SIZE, 'u32', 'row_length');
  const scope = new Scope();
  const stores: string[] = [];
  for (const value of step.values) {
    const result = emitter.emit(value, { linear: 'i', width }, scope);
    const type = plan.elementType(value);
    for (const buffer of plan.destinations(value)) {
      const name = shader.bind(buffer, type, { width, access: 'read_write' });
      stores.push(`${name}[i] = ${toStorage(type, width, result)};`);
      plan.markStored(value, buffer);
    }
  }
  scope.lines.push(...stores);
  const source = [
    `@compute @workgroup_size(${WORKGROUP_SIZE})`,
    'fn main(@builtin(global_invocation_id) id: vec3<u32>) {',
    `  let i = id.x + id.y * ${row};`,
    `  if (i >= ${itemCount}) {`,
    '    return;',
    '  }',
    ...scope.indented(),
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

function mapLabel(plan: PlanBuilder, step: MapStep): string {
  const value = step.values[0] ?? 0;
  return plan.isParam(value) ? 'copy' : plan.callOf(value).op.name;
}
