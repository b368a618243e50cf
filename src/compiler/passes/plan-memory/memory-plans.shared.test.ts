import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { compileOnnx } from '../../../frontend/onnx/compile-onnx.ts';
import { sharedPath } from '../../../testing/files/shared-path.ts';
import type { FunctionMemoryPlan } from './memory-report.ts';

describe('published models hold little more than their largest set of live values', () => {
  test.each(['squeezenet-coreml', 'light-resnet50', 'ultraface-rfb-320'])(
    '%s',
    (name) => {
      const plans: FunctionMemoryPlan[] = [];
      compileOnnx(readFileSync(sharedPath(`models/${name}/model.onnx`)), {
        onMemoryPlan: ({ functions }) => plans.push(...functions),
      });
      expect(plans).toHaveLength(1);
      for (const plan of plans) {
        expect(plan.plannedPeakBytes).toBeLessThanOrEqual(1.15 * plan.largestLiveSetBytes);
        expect(plan.plannedPeakBytes).toBeGreaterThanOrEqual(plan.largestLiveSetBytes);
        expect(plan.storages).toBeLessThan(plan.tensors / 3);
        expect(plan.unsizedTensors).toBe(0);
      }
    },
    60_000,
  );
});
