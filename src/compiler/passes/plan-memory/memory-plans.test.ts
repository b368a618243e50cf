import { describe, expect, test } from 'vitest';
import { compileOnnx } from '../../../frontend/onnx/compile-onnx.ts';
import { ownModel } from '../../../testing/files/own-model.ts';
import { compile } from '../../compile.ts';
import { parseModule } from '../../ir/text/parse.ts';
import type { FunctionMemoryPlan } from './memory-report.ts';

function plansOf(text: string): readonly FunctionMemoryPlan[] {
  let plans: readonly FunctionMemoryPlan[] = [];
  compile(parseModule(text), { onMemoryPlan: ({ functions }) => (plans = functions) });
  return plans;
}

test.each(['detector', 'digits'])(
  'the %s holds little more than its largest set of live values',
  (name) => {
    const plans: FunctionMemoryPlan[] = [];
    compileOnnx(ownModel(name).onnx, {
      onMemoryPlan: ({ functions }) => plans.push(...functions),
    });
    const [plan] = plans;
    if (plan === undefined) throw new Error('no plan');
    expect(plans).toHaveLength(1);
    expect(plan.plannedPeakBytes).toBeLessThanOrEqual(1.15 * plan.largestLiveSetBytes);
    expect(plan.plannedPeakBytes).toBeGreaterThanOrEqual(plan.largestLiveSetBytes);
    expect(plan.storages).toBeLessThan(0.6 * plan.tensors);
  },
);

describe('reports', () => {
  test('values, the largest set of them, storages', () => {
    const [plan] = plansOf(`def @main(%x: Tensor[(64, 64), float32]) {
      softmax(softmax(softmax(softmax(%x, axis=0), axis=1), axis=0), axis=1)
    }`);
    expect(plan).toEqual({
      name: 'main',
      plannedPeakBytes: 2 * 64 * 64 * 4,
      largestLiveSetBytes: 2 * 64 * 64 * 4,
      storages: 3,
      tensors: 4,
      storageBytes: 3 * 64 * 64 * 4,
      unsizedTensors: 0,
    });
  });

  test('the larger of two branches, beside what is alive around them', () => {
    const [plan] = plansOf(`def @main(%c: int, %x: Tensor[(64,), float32]) {
      let %y = softmax(%x, axis=0);
      let %z = if (%c) { softmax(softmax(%y, axis=0), axis=0) } else { %x };
      add(softmax(%z, axis=0), %y)
    }`);
    expect(plan).toMatchObject({ plannedPeakBytes: 768, largestLiveSetBytes: 768 });
  });

  test('closures stand behind their function; sizes without bounds are counted', () => {
    const plans = plansOf(`def @main(%x: Tensor[(n,), float32]) {
      let %f = fn (%y: Tensor[(64,), float32]) { exp(%y) };
      (%f, softmax(softmax(%x, axis=0), axis=0))
    }`);
    expect(plans).toMatchObject([
      { name: 'main', tensors: 2, unsizedTensors: 2, plannedPeakBytes: 0 },
      { name: 'main.fn', tensors: 1, unsizedTensors: 0, plannedPeakBytes: 256 },
    ]);
  });

  test('bounds give sizes', () => {
    const plans = plansOf(`def @main(%x: Tensor[(n, 64), float32], bounds={n: (1, 8)}) {
      softmax(softmax(softmax(%x, axis=1), axis=1), axis=1)
    }`);
    expect(plans).toMatchObject([{ largestLiveSetBytes: 2 * 8 * 256, unsizedTensors: 0 }]);
  });
});
