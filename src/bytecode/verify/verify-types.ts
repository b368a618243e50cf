import type { Dim } from '../../core/dims/dim.ts';
import { brokenRule } from './broken-rule.ts';
import type { TensorType } from '../../core/contracts/primitive-function.ts';
import type { BytecodeFunction, ValueType } from '../executable.ts';
import { MAX_DIM_DEPTH } from '../file/file-format.ts';
import { verifyName, verifyUnique } from './verify-text.ts';

/** The highest rank of a tensor. */
export const MAX_RANK = 32;

/** Checks names, counts and dimensions of a signature, if the function has one. */
export function verifySignature({ name, paramNames, signature }: BytecodeFunction): void {
  if (signature === undefined) return;
  const where = `signature of function ${name}`;
  if (signature.params.length !== paramNames.length) {
    throw brokenRule(
      where,
      `${signature.params.length} parameter types`,
      `${paramNames.length}, one for each parameter`,
    );
  }
  for (const type of signature.params) verifyValueType(type, where);
  for (const result of signature.results) {
    verifyName(result.name, `result in the ${where}`);
    verifyValueType(result.type, where);
  }
  verifyUnique(
    signature.results.map((result) => result.name),
    `results in the ${where}`,
  );
}

function verifyValueType(type: ValueType, where: string): void {
  if (type.kind === 'tensor') verifyTensorType(type, where);
}

export function verifyTensorType({ shape }: TensorType, where: string): void {
  verifyRank(shape.length, where);
  for (const dim of shape) {
    if (typeof dim === 'number' && dim < 0) {
      throw brokenRule(where, `dimension ${dim}`, 'one from 0 up');
    }
    verifyDim(dim, where, 0);
  }
}

export function verifyRank(rank: number, where: string): void {
  if (rank <= MAX_RANK) return;
  throw brokenRule(where, `rank ${rank}`, `at most ${MAX_RANK}`);
}

export function verifyDim(dim: Dim, where: string, depth: number): void {
  if (typeof dim === 'string') {
    verifyName(dim, `dimension in ${where}`);
  } else if (typeof dim === 'number') {
    if (Number.isSafeInteger(dim) && !Object.is(dim, -0)) return;
    throw brokenRule(where, `dimension ${dim}`, 'a safe integer');
  } else {
    if (depth >= MAX_DIM_DEPTH) {
      throw brokenRule(
        where,
        'a dimension of more levels',
        `at most ${MAX_DIM_DEPTH} levels of operators`,
      );
    }
    verifyDim(dim.left, where, depth + 1);
    verifyDim(dim.right, where, depth + 1);
  }
}
