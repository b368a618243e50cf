import { dtypeInfo } from '../core/dtype.ts';
import { VerifyError } from '../core/errors.ts';
import { brokenRule } from './broken-rule.ts';
import { elementCount, type Shape } from '../core/shape.ts';
import { alignTensor } from './data-layout.ts';
import type { ExecutableData, TensorConstant } from './executable.ts';
import { verifyText } from './verify-text.ts';
import { verifyRank } from './verify-types.ts';

/**
 * Checks every constant, and that the tensors fill the data section in order, each at the next
 * multiple of 256 after the one before it.
 */
export function verifyConstants({ constants, dataByteLength }: ExecutableData): void {
  let end = 0;
  for (const [index, constant] of constants.entries()) {
    const where = `constant ${index}`;
    if (constant.kind === 'tensor') {
      verifyTensor(constant, alignTensor(end), where);
      end = constant.byteOffset + constant.byteLength;
      if (end > dataByteLength) {
        throw brokenRule(
          where,
          `a tensor that ends at byte ${end} of the data section`,
          `at most ${dataByteLength}, its length`,
        );
      }
    } else if (constant.kind === 'shape') {
      verifyShape(constant.value, where);
    } else if (constant.kind === 'string') {
      verifyText(constant.value, where);
    } else if (constant.kind === 'int') {
      verifyInteger(constant.value, where);
    }
  }
  if (end !== dataByteLength) {
    throw brokenRule(
      'data section',
      `${dataByteLength} bytes`,
      `${end}, where the last tensor ends`,
    );
  }
}

function verifyTensor(constant: TensorConstant, byteOffset: number, where: string): void {
  verifyShape(constant.shape, where);
  const byteLength = dtypeInfo(constant.dtype).byteLength;
  const wholeByteLength = elementCount(constant.shape) * byteLength;
  if (!Number.isSafeInteger(wholeByteLength)) {
    throw brokenRule(where, `a tensor of ${wholeByteLength} bytes`, 'less than 2^53');
  }
  const expected = constant.isSplat ? byteLength : wholeByteLength;
  if (constant.byteOffset !== byteOffset || constant.byteLength !== expected) {
    throw new VerifyError({
      where,
      got: `${constant.byteLength} bytes at ${constant.byteOffset} of the data section`,
      expected: `${expected} at ${byteOffset}`,
      remedy: 'Tensors follow each other in the order of the constants, aligned to 256 bytes.',
    });
  }
}

function verifyShape(shape: Shape, where: string): void {
  verifyRank(shape.length, where);
  for (const dim of shape) {
    verifyInteger(dim, where);
    if (dim < 0) throw brokenRule(where, `dimension ${dim}`, 'one from 0 up');
  }
}

function verifyInteger(value: number, where: string): void {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return;
  throw brokenRule(where, `${value}`, 'a safe integer');
}
