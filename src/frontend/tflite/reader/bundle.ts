import { FormatError } from '../../../core/errors.ts';
import { refuseOtherFile } from '../../../core/bytes/sniff.ts';
import { isZip, type ZipEntry, zipEntries } from '../../../core/bytes/read-zip.ts';

const WHERE = 'model bundle';

/** The `.tflite` files of a `.task` bundle, which is a ZIP archive that stores them, by their names. Throws FormatError. */
export function modelsOfBundle(bytes: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const expected = 'a .task bundle of stored .tflite files';
  const entries = [...zipEntries(bytes, { where: WHERE, expected })];
  const models = entries.filter(({ name }) => name.endsWith('.tflite'));
  const files = models.map((entry) => [entry.name, contentOf(entry)] as const);
  return new Map(files);
}

function contentOf({ name, content, method }: ZipEntry): Uint8Array {
  if (method === 0) return content;
  throw new FormatError({
    where: `${WHERE}, ${name}`,
    got: 'a file that is compressed',
    expected: 'one that is stored',
    remedy: 'Unpack the bundle and load the .tflite file in it.',
  });
}

/** The bytes of a `.tflite` model: those given, or the only model of a bundle. Throws FormatError. */
export function modelOfBundle(bytes: Uint8Array): Uint8Array {
  if (!isZip(bytes)) return bytes;
  const models = modelsOfBundle(bytes);
  const [first] = models;
  if (first === undefined) {
    refuseOtherFile(bytes, { where: WHERE, expected: 'an archive with a .tflite file' });
  }
  if (first !== undefined && models.size === 1) return first[1];
  throw new FormatError({
    where: WHERE,
    got: `${models.size} models: ${[...models.keys()].join(', ')}`,
    expected: 'one',
    remedy: 'Take one of them: modelsOfBundle(bytes) gives each by its name.',
  });
}
