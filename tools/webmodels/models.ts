import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../../scripts/install-packages.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

/** A TensorFlow Lite model of a package of this folder. */
export interface WebModel {
  /** Its name, without `.tflite`. */
  readonly name: string;
  readonly pack: string;
  /** The archive that holds it; without one the file lies in the package itself. */
  readonly archive?: string;
  readonly license: string;
  /** LiteRT.js lacks the custom operators of these, and gives no outputs to compare with. */
  readonly isUnresolved?: true;
}

const LICENSE = 'Apache-2.0';

const inPackage = (pack: string, names: readonly string[]): WebModel[] =>
  names.map((name) => ({ name, pack: `@mediapipe/${pack}`, license: LICENSE }));

const inArchive = (pack: string, names: readonly string[]): WebModel[] =>
  inPackage(pack, names).map((model) => ({
    ...model,
    archive: `${pack}_solution_packed_assets`,
  }));

/** The sixteen files that differ; some lie in several packages. */
export const WEB_MODELS: readonly WebModel[] = [
  ...inPackage('face_detection', [
    'face_detection_short_range',
    'face_detection_full_range',
    'face_detection_full_range_sparse',
  ]),
  ...inArchive('face_mesh', ['face_landmark', 'face_landmark_with_attention']).map((model) =>
    model.name.endsWith('attention') ? { ...model, isUnresolved: true as const } : model,
  ),
  ...inArchive('hands', ['palm_detection_lite', 'palm_detection_full']),
  ...inPackage('hands', ['hand_landmark_lite', 'hand_landmark_full']),
  ...inArchive('holistic', ['hand_recrop']),
  ...inArchive('pose', ['pose_detection']),
  ...inPackage('pose', ['pose_landmark_lite', 'pose_landmark_full', 'pose_landmark_heavy']),
  ...inPackage('selfie_segmentation', ['selfie_segmentation', 'selfie_segmentation_landscape']),
];

/** The folder of the packages, which are installed if they are not there. */
export function webPackages(): string {
  installPackages(FOLDER, '@mediapipe/face_detection');
  return join(FOLDER, 'node_modules');
}

/** The bytes of a model. Throws if its archive names no such file. */
export function readWebModel({ name, pack, archive }: WebModel): Uint8Array<ArrayBuffer> {
  const folder = join(webPackages(), pack);
  if (archive === undefined) return new Uint8Array(readFileSync(join(folder, `${name}.tflite`)));
  const [start, end] = placeInArchive(folder, archive, `${name}.tflite`);
  return new Uint8Array(readFileSync(join(folder, `${archive}.data`)).subarray(start, end));
}

interface ArchiveIndex {
  readonly files: readonly {
    readonly filename: string;
    readonly start: number;
    readonly end: number;
  }[];
}

/** Emscripten's script that loads an archive says where each file begins and ends. */
function placeInArchive(folder: string, archive: string, file: string): [number, number] {
  const script = readFileSync(join(folder, `${archive}_loader.js`), 'utf8');
  const index = /loadPackage\((\{"files".*?\})\);/.exec(script)?.[1];
  if (index === undefined) throw new Error(`${archive}: its script has no list of files`);
  const { files } = JSON.parse(index) as ArchiveIndex;
  const found = files.find(({ filename }) => filename.endsWith(`/${file}`));
  if (found === undefined) throw new Error(`${archive}: got no ${file}, expected it in the list`);
  return [found.start, found.end];
}
