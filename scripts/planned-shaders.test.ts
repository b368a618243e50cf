import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LaunchPlan, PlannerCaps } from '../src/core/contracts/launch-plan.ts';
import type { PrimitiveFunction } from '../src/core/contracts/primitive-function.ts';
import { plan } from '../src/device/webgpu/planner/plan.ts';
import { openGpu } from '../src/device/webgpu/testing/open-gpu.ts';
import { CORE_OPERATORS } from '../src/ops/tables/core-operators.ts';
import type { OpDefinition } from '../src/ops/define-op.ts';
import { inferConcreteCall } from '../src/ops/infer-concrete-call.ts';
import type { OpCase } from '../src/ops/op-cases.ts';
import { hostReason } from '../src/ops/lowering/placement.ts';
import { TESTED_OPS } from '../src/ops/testing/tested-ops.ts';
import { plannerCaps } from '../src/testing/planner-caps.ts';
import { minifyWgsl } from './minify-wgsl.ts';

/** All but those of pictures, which are no part of a program and have tests of their own. */
const SHADERS: Readonly<Record<string, string>> = import.meta.glob(
  ['/shaders/**/*.wgsl', '!/shaders/pictures/*.wgsl'],
  { query: '?raw', import: 'default', eager: true },
);

const CLASSES = ['software', 'integrated', 'discrete'] as const;

function capsOf(adapterClass: PlannerCaps['adapterClass']): PlannerCaps {
  return plannerCaps(adapterClass, {
    subgroups: true,
    subgroupMinSize: 4,
    maxStorageBuffersPerShaderStage: 10,
  });
}

/** The planner and the operators, from the sources or as a build makes them. */
interface Planner {
  readonly plan: typeof plan;
  readonly CORE_OPERATORS: typeof CORE_OPERATORS;
}

function planCase(
  planner: Planner,
  op: OpDefinition,
  opCase: OpCase,
  caps: PlannerCaps,
): LaunchPlan {
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
  return planner.plan(primitive, shapes, { caps, operators: planner.CORE_OPERATORS });
}

/** Shaders that the cases of operators are too small for. */
const LARGE_CASES: ReadonlyMap<string, readonly OpCase[]> = new Map(
  ['softmax', 'layer_norm'].map((name) => [
    name,
    [{ title: 'many rows', inputs: [{ dtype: 'float32', shape: [257, 1028] }] }],
  ]),
);

/** The plans of the cases of operators, for each adapter class, by a name of the case. */
function planAll(planner: Planner): Map<string, LaunchPlan> {
  const plans = new Map<string, LaunchPlan>();
  for (const op of TESTED_OPS.values()) {
    for (const [i, opCase] of [...op.cases(), ...(LARGE_CASES.get(op.name) ?? [])].entries()) {
      if (!hasKernels(op, opCase)) continue;
      for (const adapterClass of op.lower === undefined ? (['software'] as const) : CLASSES) {
        const name = `${op.name} ${i} ${adapterClass}`;
        plans.set(name, planCase(planner, op, opCase, capsOf(adapterClass)));
      }
    }
  }
  return plans;
}

function hasKernels(op: OpDefinition, { inputs, attributes = {} }: OpCase): boolean {
  const { output } = inferConcreteCall(op, inputs, attributes);
  const dtypes = inputs.map((input) => input?.dtype);
  return hostReason(op, { inputs: dtypes, output: output.dtype, attributes }) === undefined;
}

const folder = mkdtempSync(join(tmpdir(), 'weft-planner-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The planner as a build with these plugins makes it. */
async function builtPlanner(name: string, plugins: Plugin[]): Promise<Planner> {
  const entry = join(folder, `${name}-entry.js`);
  const address = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));
  writeFileSync(
    entry,
    `export { plan } from ${address('../src/device/webgpu/planner/plan.ts')};
export { CORE_OPERATORS } from ${address('../src/ops/tables/core-operators.ts')};
`,
  );
  await build({
    configFile: false,
    publicDir: false,
    logLevel: 'error',
    plugins,
    build: {
      outDir: join(folder, name),
      minify: false,
      lib: { entry, formats: ['es'], fileName: () => 'built.mjs' },
    },
  });
  return import(/* @vite-ignore */ join(folder, name, 'built.mjs')) as Promise<Planner>;
}

let plans: Map<string, LaunchPlan>;
beforeAll(() => {
  plans = planAll({ plan, CORE_OPERATORS });
});

test('every shader is part of some plan, as it stands in its file', () => {
  const texts = [...plans.values()].flatMap(({ launches }) => launches.map(({ code }) => code));
  const unused = Object.entries(SHADERS).filter(([, text]) => !texts.some((t) => t.includes(text)));
  expect(Object.keys(SHADERS).length).toBeGreaterThan(10);
  expect(unused.map(([path]) => path)).toEqual([]);
});

test('a build plans the same launches of shaders that are shrunk and valid', async () => {
  const { device } = await openGpu();
  expect(plans.size).toBeGreaterThan(500);
  const built = planAll(await builtPlanner('shrunk', [minifyWgsl()]));
  const seen = new Set<string>();
  const messages: string[] = [];
  for (const [name, { launches }] of plans) {
    for (const [i, { code: text, ...launch }] of launches.entries()) {
      const { code = '', ...other } = built.get(name)?.launches[i] ?? {};
      expect(other, name).toEqual(launch);
      expect(code.length, name).toBeLessThan(text.length);
      if (seen.has(code)) continue;
      seen.add(code);
      const info = await device.createShaderModule({ code }).getCompilationInfo();
      messages.push(...info.messages.map(({ message }) => `${name}: ${message}`));
    }
  }
  expect(messages).toEqual([]);
});
