import { ALL_DTYPES, type DType } from '../../core/tensor/dtype.ts';
import { KERNEL_DTYPES } from '../lowering/placement.ts';

const GROUPS: readonly { readonly name: string; readonly dtypes: readonly DType[] }[] = [
  { name: 'every dtype', dtypes: ALL_DTYPES },
  { name: 'every kernel type', dtypes: [...KERNEL_DTYPES] },
  { name: 'float32, float16', dtypes: ['float32', 'float16'] },
  {
    name: 'integers',
    dtypes: ['int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64'],
  },
  {
    name: 'floats of 8 and 4 bits',
    dtypes: [
      'float8e4m3fn',
      'float8e4m3fnuz',
      'float8e5m2',
      'float8e5m2fnuz',
      'float8e8m0',
      'float4e2m1',
    ],
  },
  { name: 'integers of 4 and 2 bits', dtypes: ['int4', 'uint4', 'int2', 'uint2'] },
];

/** dtypes in few words, for tables of documents. */
export function describeDTypes(dtypes: Iterable<DType>): string {
  const left = new Set(dtypes);
  const parts: string[] = [];
  for (const group of GROUPS) {
    if (!group.dtypes.every((dtype) => left.has(dtype))) continue;
    parts.push(group.name);
    for (const dtype of group.dtypes) left.delete(dtype);
  }
  return [...parts, ...left].join(', ');
}
