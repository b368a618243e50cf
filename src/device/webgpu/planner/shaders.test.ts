import { beforeAll, expect, test } from 'vitest';
import { openGpu } from '../../../../bench/kernels/open-gpu.ts';
import { shrinkWgsl } from '../../../../scripts/minify-wgsl.ts';
import type { LaunchPlan, PlannerCaps } from '../../../core/launch-plan.ts';
import type { PrimitiveFunction } from '../../../core/primitive-function.ts';
import type { OpCase, OpDefinition } from '../../../ops/define-op.ts';
import { KERNEL_DTYPES } from '../../../ops/placement.ts';
import { inferConcreteCall, OPS } from '../../../ops/registry.ts';
import { plan } from './plan.ts';

const SHADERS: Readonly<Record<string, string>> = import.meta.glob('/shaders/**/*.wgsl', {
  query: '?raw',
  import: 'default',
  eager: true,
});

const CLASSES = ['software', 'integrated', 'discrete'] as const;

function capsOf(adapterClass: PlannerCaps['adapterClass']): PlannerCaps {
  return {
    adapterClass,
    subgroups: true,
    subgroupMinSize: 4,
    shaderF16: false,
    maxStorageBuffersPerShaderStage: 10,
    maxComputeWorkgroupStorageSize: 16_384,
    maxComputeInvocationsPerWorkgroup: 256,
    maxComputeWorkgroupsPerDimension: 65_535,
    maxStorageBufferBindingSize: 2 ** 27,
  };
}

function planCase(op: OpDefinition, opCase: OpCase, caps: PlannerCaps): LaunchPlan {
  const { output } = inferConcreteCall(op, opCase.inputs, opCase.attributes ?? {});
  const params = opCase.inputs.filter((input) => input !== undefined);
  let next = 0;
  const primitive: PrimitiveFunction = {
    name: op.name,
    params,
    body: [
      {
        op: op.name,
        inputs: opCase.inputs.map((input) => (input === undefined ? -1 : next++)),
        attributes: opCase.attributes ?? {},
      },
    ],
    results: [{ value: params.length, type: output }],
  };
  const shapes = { params: params.map(({ shape }) => shape), results: [output.shape] };
  return plan(primitive, shapes, { caps, operators: OPS });
}

/** Every shader that the cases of operators plan, for each adapter class. */
function planAll(): Set<string> {
  const texts = new Set<string>();
  for (const op of OPS.values()) {
    if (op.lower === undefined) continue;
    for (const opCase of op.cases()) {
      if (opCase.inputs.some((input) => input !== undefined && !KERNEL_DTYPES.has(input.dtype)))
        continue;
      for (const adapterClass of CLASSES) {
        for (const { code } of planCase(op, opCase, capsOf(adapterClass)).launches) texts.add(code);
      }
    }
  }
  return texts;
}

let plannedTexts: Set<string>;
beforeAll(() => {
  plannedTexts = planAll();
});

test('every shader is part of some plan, as it stands in its file', () => {
  const texts = [...plannedTexts];
  const unused = Object.entries(SHADERS).filter(([, text]) => !texts.some((t) => t.includes(text)));
  expect(Object.keys(SHADERS).length).toBeGreaterThan(10);
  expect(unused.map(([path]) => path)).toEqual([]);
});

test('shaders are valid with files as a build shrinks them', async () => {
  const { device } = await openGpu();
  const pieces = Object.values(SHADERS);
  const seen = new Set<string>();
  for (const text of plannedTexts) {
    const parts = pieces.filter((piece) => text.includes(piece));
    const key = parts.map((piece) => pieces.indexOf(piece)).join();
    if (seen.has(key)) continue;
    seen.add(key);
    const code = parts.reduce((rest, piece) => rest.replace(piece, () => shrinkWgsl(piece)), text);
    const { messages } = await device.createShaderModule({ code }).getCompilationInfo();
    expect(messages.map(({ message, linePos }) => `${code}:${linePos}: ${message}`)).toEqual([]);
  }
  expect(seen.size).toBeGreaterThan(20);
});
