import type { Device } from '../../src/device/device.ts';
import { compareOperator } from '../../src/device/testing/compare-operator.ts';
import type { OpenedAdapter } from '../../src/device/webgpu/adapter.ts';
import type { OpDefinition } from '../../src/ops/define-op.ts';
import { KERNEL_FAMILIES } from '../../src/ops/tables/kernel-ops.ts';
import { testedOp } from '../../src/ops/testing/tested-ops.ts';
import { type BenchCase, benchCases, inFloat16, type Rate, rateOf } from '../kernels/cases.ts';
import type { Ceilings } from '../kernels/ceilings.ts';
import { timeCase } from '../kernels/time-case.ts';
import { messageOf } from '../limited.ts';

/** The kernels of one class on this adapter, beside the host device. */
export interface FamilyCheck {
  readonly family: string;
  readonly operatorCount: number;
  caseCount: number;
  /** A line for each case that departs, or operator that fails. */
  readonly differences: string[];
}

/** An operator to be checked, with where its result goes. */
interface OperatorCheck {
  readonly check: FamilyCheck;
  readonly operator: string;
}

/** The operators with kernels by families, and an empty result for each; others run on the processor anyway. */
export function operatorChecks(): readonly OperatorCheck[] {
  const families = Object.entries<readonly OpDefinition[]>(KERNEL_FAMILIES);
  return families.flatMap(([family, operators]) => {
    const check = { family, operatorCount: operators.length, caseCount: 0, differences: [] };
    return operators.map(({ name }) => ({ check, operator: name }));
  });
}

/**
 * Runs a few cases of an operator on the device and compares with the reference that defines it. A failure of the
 * operator is a difference; only the loss of the device is an error.
 */
export async function checkOperator(
  device: Device,
  { check, operator }: OperatorCheck,
  most: number,
): Promise<void> {
  try {
    const { caseCount, differences } = await compareOperator(device, testedOp(operator), { most });
    check.caseCount += caseCount;
    check.differences.push(...differences.map((difference) => `${operator}, ${difference}`));
  } catch (error) {
    if (error instanceof Error && error.name === 'DeviceLostError') throw error;
    check.differences.push(
      `${operator}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** The time of the kernels of one case, without transfers. */
export type KernelTime =
  | ({ readonly title: string; readonly ms: number } & Rate)
  | { readonly title: string; readonly failure: string };

/** Cases of `npm run bench -- kernels`, or those that `isQuick` stands for; the same in float16 where the adapter has it. */
export function kernelCases(hasFloat16: boolean, isQuick: boolean): readonly BenchCase[] {
  const cases = benchCases().filter(({ title }) => !isQuick || QUICK.test(title));
  return hasFloat16 ? [...cases, ...cases.map(inFloat16)] : cases;
}

/** One of each kind. */
const QUICK =
  /^(matmul 512x512x512|conv 3x3 64-64 56|attention 8 heads 512x512x64|softmax 1024x1024|reduce_sum rows 1024x1024|add 4M)$/;

/** Times a case. Failures are part of the result. */
export async function timeKernelCase(
  opened: OpenedAdapter,
  benchCase: BenchCase,
  ceilings: Ceilings,
): Promise<KernelTime> {
  const { title, work } = benchCase;
  try {
    const { ms } = await timeCase(opened, benchCase);
    return { title, ms, ...rateOf(work, { ms, ceilings }) };
  } catch (error) {
    return { title, failure: messageOf(error) };
  }
}
