import { ggufPartNames } from '../gguf-parts.ts';
import { type WrittenGguf, writeGguf } from './gguf-writer.ts';

/** A model as `llama-gguf-split --no-tensor-first-split` writes it: the first file has the metadata alone. */
export function splitGguf(
  { metadata, tensors = [] }: WrittenGguf,
  { prefix, count }: { readonly prefix: string; readonly count: number },
): Record<string, Uint8Array> {
  const files: Record<string, Uint8Array> = {};
  const end = `of-${String(count).padStart(5, '0')}.gguf`;
  const each = Math.ceil(tensors.length / (count - 1));
  ggufPartNames(`${prefix}-00001-${end}`).forEach((name, i) => {
    const said = {
      'split.no': i,
      'split.count': count,
      'split.tensors.count': tensors.length,
    };
    files[name] = writeGguf({
      metadata: { ...(i === 0 && metadata), ...said },
      tensors: i === 0 ? [] : tensors.slice((i - 1) * each, i * each),
    });
  });
  return files;
}
