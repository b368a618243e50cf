import type { DType } from '../../src/core/tensor/dtype.ts';
import { numberToFloat16 } from '../../src/core/tensor/float16.ts';
import type { PlannerCaps } from '../../src/core/contracts/launch-plan.ts';
import type { TensorType } from '../../src/core/contracts/primitive-function.ts';
import { seededRandom } from '../../src/core/random.ts';
import { elementCount } from '../../src/core/tensor/shape.ts';
import { plan } from '../../src/device/webgpu/planner/plan.ts';
import { CORE_OPERATORS } from '../../src/ops/tables/core-operators.ts';
import { type BestRun, bestRun, type BestRunOptions } from './best-run.ts';
import type { BenchCase } from './cases.ts';
import {
  preparePlan,
  storageBuffer,
  type WithDevice,
} from '../../src/device/webgpu/testing/prepare-plan.ts';

const ROUNDS = 20;
const LIMIT_MS = 1000;

interface TimedGpu extends WithDevice {
  readonly caps: PlannerCaps;
}

/** The time of the planner's kernels for a case over random elements. */
export async function timeCase(
  gpu: TimedGpu,
  { primitive }: BenchCase,
  options: Pick<BestRunOptions, 'processorMs'> = {},
): Promise<BestRun> {
  const results = primitive.results.map(({ type }) => type);
  const launchPlan = plan(
    primitive,
    { params: primitive.params.map(sizesOf), results: results.map(sizesOf) },
    { caps: gpu.caps, operators: CORE_OPERATORS },
  );
  const random = seededRandom(1);
  const buffers = [
    ...primitive.params.map((type) => elementsOf(type, () => random() - 0.5)),
    ...results.map((type) => elementsOf(type, () => 0)),
  ].map((data) => storageBuffer(gpu, data));
  const prepared = await preparePlan(gpu, launchPlan, buffers);
  try {
    return await bestRun(prepared, { rounds: ROUNDS, limitMs: LIMIT_MS, ...options });
  } finally {
    prepared.destroy();
    for (const buffer of buffers) buffer.destroy();
  }
}

const sizesOf = ({ shape }: TensorType): number[] => shape.map(Number);

/** Elements as the device has them: those of float16 as bits, of which a whole word more is harmless. */
function elementsOf(type: TensorType, draw: () => number): Float32Array | Uint16Array {
  const count = elementCount(sizesOf(type));
  if (!isHalf(type.dtype)) return Float32Array.from({ length: count }, draw);
  return Uint16Array.from({ length: count + (count % 2) }, () => numberToFloat16(draw()));
}

const isHalf = (dtype: DType): boolean => dtype === 'float16';
