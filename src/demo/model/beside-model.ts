import { filesAt, type ReadFile } from '../../text/model-folder.ts';
import type { ChosenModel } from './chosen-model.ts';

const MODEL_FILE = /\.(onnx|gguf|weft)$/i;

/** The model among files that were dropped or chosen at once; the others are beside it. Undefined for no file. */
export function modelOfFiles(files: readonly File[]): ChosenModel | undefined {
  const model = files.find(({ name }) => MODEL_FILE.test(name)) ?? files[0];
  if (model === undefined) return undefined;
  const others = new Map(files.filter((file) => file !== model).map((file) => [file.name, file]));
  const beside: ReadFile = async (name) => {
    const file = others.get(name);
    return file && new Uint8Array(await file.arrayBuffer());
  };
  return { name: model.name, source: model, beside };
}

/** The model at an address, and files of its folder: as transformers.js has them, above a folder `onnx`. */
export function modelAt(url: URL): ChosenModel {
  const name = url.pathname.slice(url.pathname.lastIndexOf('/') + 1);
  const own = new URL('./', url);
  const folder = own.pathname.endsWith('/onnx/') ? new URL('../', own) : own;
  return { name, source: url.href, beside: filesAt(folder, { cache: false }) };
}
