import { expect, test } from 'vitest';
import { casePrimitive } from '../../../ops/testing/case-tensors.ts';
import type { OpDefinition } from '../../../ops/define-op.ts';
import type { OpCase } from '../../../ops/op-cases.ts';
import { inferConcreteCall } from '../../../ops/infer-concrete-call.ts';
import { KERNEL_OPS } from '../../../ops/tables/kernel-ops.ts';
import { hostReason } from '../../../ops/lowering/placement.ts';
import { CORE_OPERATORS } from '../../../ops/tables/core-operators.ts';
import { withCases } from '../../../ops/testing/tested-ops.ts';
import { casesOfAllDTypes } from '../../../conformance/dtype-variants.ts';
import { plannerCaps } from '../../../testing/planner-caps.ts';
import { plan } from './plan.ts';

const CLASSES = ['software', 'integrated', 'discrete'] as const;

function takesFloat16(op: OpDefinition, { inputs, attributes = {} }: OpCase): boolean {
  const { output } = inferConcreteCall(op, inputs, attributes);
  const dtypes = inputs.map((input) => input?.dtype);
  const placed = { inputs: dtypes, output: output.dtype, attributes };
  return [...dtypes, output.dtype].includes('float16') && hostReason(op, placed) === undefined;
}

function shadersOf(op: OpDefinition, opCase: OpCase, adapterClass: (typeof CLASSES)[number]) {
  const { params, ...primitive } = casePrimitive(op, opCase, op.name);
  const { output } = inferConcreteCall(op, opCase.inputs, opCase.attributes ?? {});
  const shapes = { params: params.map(({ shape }) => shape.map(Number)), results: [output.shape] };
  const caps = plannerCaps(adapterClass, {
    shaderF16: true,
    subgroups: true,
    subgroupMinSize: 4,
    maxStorageBuffersPerShaderStage: 10,
  });
  const { launches } = plan({ params, ...primitive }, shapes, { caps, operators: CORE_OPERATORS });
  return launches.map(({ code }) => code);
}

// SwiftShader has no shader-f16. Dawn's null adapter, which runs nothing, compiles for every feature.
test('Tint takes all shaders with float16 in memory', async () => {
  const { create } = await import('webgpu');
  const gpu = create(['backend=null']);
  const adapter = await gpu.requestAdapter();
  const device = await adapter?.requestDevice({ requiredFeatures: ['shader-f16', 'subgroups'] });
  if (device === undefined) throw new Error('Dawn has no null adapter.');
  const shaders = new Map<string, string>();
  for (const op of KERNEL_OPS.values()) {
    for (const opCase of casesOfAllDTypes(withCases(op)).filter((opCase) =>
      takesFloat16(op, opCase),
    )) {
      for (const adapterClass of op.lower === undefined ? (['software'] as const) : CLASSES) {
        for (const code of shadersOf(op, opCase, adapterClass)) shaders.set(code, op.name);
      }
    }
  }
  const messages: string[] = [];
  for (const [code, name] of shaders) {
    const info = await device.createShaderModule({ code }).getCompilationInfo();
    messages.push(...info.messages.map(({ message }) => `${name}: ${message}`));
  }
  expect(messages).toEqual([]);
  const native = [...shaders.keys()].filter((code) => code.includes('enable f16;'));
  expect(native.length).toBeGreaterThan(200);
});
