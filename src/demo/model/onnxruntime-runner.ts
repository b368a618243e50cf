import { type Inputs, Tensor } from '../../client/index.ts';
import { UnsupportedError } from '../../core/errors.ts';
import type { Runner } from './race.ts';

/** Where `scripts/demo-files.ts` puts it. */
const FOLDER = 'files/onnxruntime/';

interface OrtTensor {
  readonly data: unknown;
}

/** The part of onnxruntime-web that is used here. */
interface OrtModule {
  readonly env: { readonly wasm: { wasmPaths?: string; numThreads?: number } };
  readonly Tensor: new (type: string, data: unknown, dims: readonly number[]) => OrtTensor;
  readonly InferenceSession: {
    create(
      bytes: Uint8Array,
      options: { readonly executionProviders: readonly string[] },
    ): Promise<{
      run(feeds: Readonly<Record<string, OrtTensor>>): Promise<unknown>;
      release(): Promise<void>;
    }>;
  };
}

/** The model in onnxruntime-web on the processor, with as many threads as the page may have. */
export async function onnxRuntimeRunner(source: string | File, inputs: Inputs): Promise<Runner> {
  const folder = new URL(FOLDER, document.baseURI).href;
  const ort: OrtModule = await import(/* @vite-ignore */ `${folder}ort.wasm.bundle.min.mjs`);
  ort.env.wasm.wasmPaths = folder;
  const bytes =
    typeof source === 'string'
      ? await (await fetch(source)).arrayBuffer()
      : await source.arrayBuffer();
  const session = await ort.InferenceSession.create(new Uint8Array(bytes), {
    executionProviders: ['wasm'],
  });
  const feeds = Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => {
      if (value instanceof Tensor)
        return [name, new ort.Tensor(value.dtype, value.data, value.shape)];
      throw new UnsupportedError({
        where: `input "${name}"`,
        got: typeof value,
        expected: 'a tensor',
      });
    }),
  );
  return { run: () => session.run(feeds), dispose: () => session.release() };
}
