import type { CompiledModel, PeerPage, Vector } from './litert-package.ts';

// These functions run in the page, so each has all that it needs within.

/** A tensor on its way to the page or back. */
export interface PageTensor {
  /** LiteRT's number of the element type. */
  readonly elementType: number;
  readonly shape: readonly number[];
  /** Little-endian, in base64. */
  readonly bytes: string;
}

/** What the page is asked to run: the model at `/model.tflite`, once for each list of inputs. */
export interface PageOrder {
  /** In the order of the signature, each without its type where the model says it. */
  readonly runs: readonly (readonly { readonly name: string; readonly bytes: string }[])[];
  readonly signature: number;
}

export interface PageAnswer {
  readonly outputs: readonly Readonly<Record<string, PageTensor>>[];
  readonly isFullyAccelerated: boolean;
}

/**
 * Runs a model on one thread. LiteRT's own bindings are called: its public tensors have float32, int32 and uint8 only.
 */
export async function runModel({ runs, signature }: PageOrder): Promise<PageAnswer> {
  const peer = globalThis as unknown as PeerPage;
  peer.liteRt ??= peer
    .importLiteRt()
    .then((litert) => litert.loadLiteRt('/peers/@litertjs/core/wasm/'));
  const liteRt = await peer.liteRt;
  const wasm = liteRt.liteRtWasm;
  const environment = liteRt.getDefaultEnvironment();
  const elementsOf = <Element>(vector: Vector<Element>): Element[] =>
    Array.from({ length: vector.size() }, (_, i) => vector.get(i));
  const bytesOf = (base64: string): Uint8Array =>
    Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const base64Of = (bytes: Uint8Array): string => {
    let text = '';
    for (let at = 0; at < bytes.length; at += 0x8000) {
      text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
    }
    return btoa(text);
  };

  const file = new Uint8Array(await (await fetch('/model.tflite')).arrayBuffer());
  const pointer = wasm._malloc(file.length);
  wasm.HEAPU8.set(file, pointer);
  const model = wasm.loadModel(environment.liteRtEnvironment, pointer, file.length);
  let compiled: CompiledModel | undefined;
  try {
    compiled = await wasm.compileModel(environment.liteRtEnvironment, model, {
      accelerator: 'wasm',
      environment,
      cpuOptions: { numThreads: 1 },
      gpuOptions: {},
      webNNOptions: {},
    });
    const names = model.getSignature(signature);
    const outputs: Record<string, PageTensor>[] = [];
    for (const given of runs) {
      const buffers = elementsOf(names.inputNames()).map((name, i) => {
        const type = model.getInputTensorType(signature, i);
        const bytes = bytesOf(given.find((input) => input.name === name)?.bytes ?? '');
        if (bytes.length !== type.bytes()) {
          throw new Error(`input ${name}: got ${bytes.length} bytes, expected ${type.bytes()}`);
        }
        const buffer = wasm.LiteRtTensorBuffer.createManaged(
          environment.liteRtEnvironment,
          wasm.LiteRtTensorBufferType.HOST_MEMORY,
          type,
          bytes.length,
        );
        wasm.HEAPU8.set(bytes, buffer.lock(wasm.LiteRtTensorBufferLockMode.WRITE));
        buffer.unlock();
        return buffer;
      });
      const results = await compiled.run(signature, buffers);
      const outputNames = elementsOf(names.outputNames());
      outputs.push(
        Object.fromEntries(
          results.map((buffer, i) => {
            const type = buffer.tensorType();
            const at = buffer.lock(wasm.LiteRtTensorBufferLockMode.READ);
            const bytes = wasm.HEAPU8.slice(at, at + type.bytes());
            buffer.unlock();
            const tensor = {
              elementType: type.elementType().value,
              shape: elementsOf(type.layout().dimensions()),
              bytes: base64Of(bytes),
            };
            return [outputNames[i] ?? String(i), tensor];
          }),
        ),
      );
      for (const buffer of [...buffers, ...results]) buffer.delete();
    }
    return { outputs, isFullyAccelerated: compiled.isFullyAccelerated() };
  } finally {
    compiled?.delete();
    model.delete();
    wasm._free(pointer);
  }
}

/** The pixels of the photograph at `/photograph`, stretched to a size: red, green and blue, in base64. */
export async function readPhotograph({
  width,
  height,
}: {
  readonly width: number;
  readonly height: number;
}): Promise<string> {
  const bitmap = await createImageBitmap(await (await fetch('/photograph')).blob());
  const context = new OffscreenCanvas(width, height).getContext('2d');
  if (context === null) throw new Error('no canvas');
  context.drawImage(bitmap, 0, 0, width, height);
  const { data } = context.getImageData(0, 0, width, height);
  let text = '';
  for (let i = 0; i < data.length; i += 4) {
    text += String.fromCharCode(data[i] ?? 0, data[i + 1] ?? 0, data[i + 2] ?? 0);
  }
  return btoa(text);
}
