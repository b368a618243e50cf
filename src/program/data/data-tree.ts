import { internalError } from '../../core/errors.ts';
import { DeviceTensor } from '../../client/values/device-tensor.ts';
import type { OutputValue } from '../../client/values/session-value.ts';
import { leavesOf, mapTree } from './tree.ts';
import { type DataSpec, isLeafSpec, type LeafSpec, type SelfSpec } from './value-spec.ts';

/** A value of data in the page. */
export interface DataTree {
  readonly is: string;
  readonly [field: string]: unknown;
}

export function isFieldLeaf(value: unknown): value is LeafSpec | SelfSpec {
  const isSelf =
    typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'self';
  return isSelf || isLeafSpec(value);
}

/** A value of data with the names of its fields, and its tensors read. */
export async function dataToTree(value: OutputValue, spec: DataSpec): Promise<DataTree> {
  // The rest of a list is read on a stack of its own, however long it is.
  await Promise.resolve();
  if (
    typeof value !== 'object' ||
    value === null ||
    !('constructor' in value && 'fields' in value)
  ) {
    throw internalError('data without a constructor');
  }
  const is = String(value.constructor);
  const tree = spec.constructors[is] ?? {};
  const read: unknown[] = [];
  for (const [index, { leaf }] of leavesOf(tree, isFieldLeaf).entries()) {
    const field = value.fields[index] ?? null;
    if (leaf.kind === 'array') read.push(await readField(field));
    else read.push(await dataToTree(field, leaf.kind === 'self' ? spec : leaf));
  }
  return { ...(mapTree(tree, isFieldLeaf, () => read.shift()) as object), is };
}

async function readField(field: OutputValue): Promise<OutputValue> {
  return field instanceof DeviceTensor ? field.read() : field;
}
