import { describe, expect, test } from 'vitest';
import { FormatError, VerifyError } from '../core/errors.ts';
import { Executable } from './file/executable-file.ts';
import { SectionId } from './file/file-format.ts';
import { type FileParts, putTogether, rehashData, takeApart } from './testing/file-surgery.ts';
import { sampleExecutable } from './testing/sample-executable.ts';
import { seededRandom } from '../core/random.ts';

const file = sampleExecutable().toBytes({ blockByteLength: 512 });

/** The error that reading gives; fails the test when reading succeeds or throws anything else. */
function refusal(bytes: Uint8Array): FormatError | VerifyError {
  try {
    Executable.fromBytes(bytes);
  } catch (error) {
    if (error instanceof FormatError || error instanceof VerifyError) return error;
    throw error;
  }
  throw new Error('the file was accepted');
}

function patched(change: (view: DataView, bytes: Uint8Array) => void): Uint8Array {
  const bytes = file.slice();
  change(new DataView(bytes.buffer), bytes);
  return bytes;
}

/** The file with a section changed and every hash right. */
function withSection(id: number, change: (bytes: Uint8Array) => Uint8Array): Uint8Array {
  const parts = takeApart(file);
  for (const section of parts.sections)
    if (section.id === id) section.bytes = change(section.bytes);
  return putTogether(parts);
}

function withParts(change: (parts: FileParts) => FileParts): Uint8Array {
  return putTogether(change(takeApart(file)));
}

describe('a damaged file', () => {
  test('surgery without a change gives the same file', () => {
    expect(putTogether(rehashData(takeApart(file)))).toEqual(file);
  });

  test('is refused when truncated at any byte', () => {
    for (let length = 0; length < file.length; length++) {
      expect(refusal(file.subarray(0, length)).message).toMatch(/bytes.*expected \d+/);
    }
  });

  test('is refused when any byte is flipped', () => {
    for (let at = 0; at < file.length; at++) {
      for (const mask of [0x01, 0x80, 0xff]) {
        const error = refusal(patched((_, bytes) => (bytes[at] = (bytes[at] ?? 0) ^ mask)));
        expect(error).toBeInstanceOf(FormatError);
        expect(error.message).toMatch(/got .*, expected /);
      }
    }
  });

  test('is refused with bytes after its end', () => {
    const longer = new Uint8Array(file.length + 1);
    longer.set(file);
    expect(refusal(longer).message).toContain(`got a file of ${file.length + 1} bytes`);
  });

  test('is refused when it is random bytes', () => {
    const random = seededRandom(7);
    for (let round = 0; round < 2000; round++) {
      const bytes = Uint8Array.from({ length: Math.floor(random() * 400) }, () => random() * 256);
      if (round % 2 === 0) bytes.set(file.subarray(0, Math.min(12, bytes.length)));
      expect(refusal(bytes)).toBeInstanceOf(FormatError);
    }
  });
});

describe('the header', () => {
  test('names a wrong magic', () => {
    const png = patched((_, bytes) => bytes.set([0x89, 0x50, 0x4e, 0x47]));
    expect(() => Executable.fromBytes(png)).toThrowErrorMatchingInlineSnapshot(
      `[FormatError: header, byte 0: got the bytes 89504e47540d0a1a, expected 89574546540d0a1a, the magic of an executable. Check that the file is a .weft file and was not transferred as text.]`,
    );
  });

  test('refuses a newer major version', () => {
    const bytes = patched((view) => view.setUint16(8, 2, true));
    expect(() => Executable.fromBytes(bytes)).toThrowErrorMatchingInlineSnapshot(
      `[FormatError: header, byte 8: got format version 2.1, expected 1.0 to 1.2. Update Weft, or compile the model again with this version.]`,
    );
  });

  test('refuses an older major version', () => {
    const bytes = patched((view) => view.setUint16(8, 0, true));
    expect(refusal(bytes).message).toContain('Compile the model again with this version of Weft.');
  });

  test('refuses a newer minor version', () => {
    const bytes = patched((view) => view.setUint16(10, 3, true));
    expect(refusal(bytes).message).toContain('got format version 1.3, expected 1.0 to 1.2.');
  });

  test('refuses a data section larger than the file', () => {
    const bytes = patched((view) => view.setBigInt64(16, 2n ** 40n, true));
    expect(refusal(bytes).message).toMatch(
      /got a file of \d+ bytes, expected 10995\d+, as its header/,
    );
  });

  test('refuses a head larger than the file', () => {
    const bytes = patched((view) => view.setUint32(12, 0xffff_ff00, true));
    expect(refusal(bytes).message).toMatch(/got a file of \d+ bytes, expected 42949\d+/);
  });

  test('refuses blocks that would not fit memory', () => {
    const bytes = patched((view) => view.setUint32(24, 0x8000_0000, true));
    expect(() => Executable.fromBytes(bytes)).toThrowErrorMatchingInlineSnapshot(
      `[FormatError: header, byte 24: got blocks of 2147483648 bytes, expected a multiple of 256 up to 16777216.]`,
    );
  });

  test('refuses more sections than fit the head', () => {
    const bytes = patched((view) => view.setUint32(28, 0xffff_ffff, true));
    expect(refusal(bytes).message).toMatch(
      /got a head of \d+ bytes, expected a multiple of 256 that/,
    );
  });

  test('refuses a wrong hash of the head', () => {
    const bytes = patched((view) => view.setUint8(40, view.getUint8(40) ^ 1));
    expect(refusal(bytes).message).toMatch(
      /^head: got SHA-256 [0-9a-f]{64}, expected [0-9a-f]{64}\./,
    );
  });
});

describe('sections', () => {
  test('one is missing', () => {
    const bytes = withParts((parts) => ({ ...parts, sections: parts.sections.slice(1) }));
    expect(refusal(bytes).message).toContain('section table: got no section 1 (functions)');
  });

  test('one stands twice', () => {
    const bytes = withParts((parts) => ({
      ...parts,
      sections: parts.sections.flatMap((section) =>
        section.id === 2 ? [section, section] : section,
      ),
    }));
    expect(refusal(bytes).message).toMatch(/got section 2 at byte \d+, expected a section above 2/);
  });

  test('one is unknown', () => {
    const bytes = withParts((parts) => ({
      ...parts,
      sections: [...parts.sections, { id: 99, bytes: new Uint8Array(3) }].toSorted(
        (a, b) => a.id - b.id,
      ),
    }));
    expect(() => Executable.fromBytes(bytes)).toThrowErrorMatchingInlineSnapshot(
      `[FormatError: section table: got section 99, which this version does not know, expected 1 to 9 or an optional section. Update Weft.]`,
    );
  });

  test('one is unknown but optional, and skipped', () => {
    const bytes = withParts((parts) => ({
      ...parts,
      sections: [...parts.sections, { id: 0x8000_0002, bytes: new Uint8Array(3) }],
    }));
    expect(Executable.fromBytes(bytes)).toEqual(sampleExecutable());
  });

  test.each([1, 3, 4, 5, 6, 7])('section %d counts more than it holds', (id) => {
    const bytes = withSection(id, (section) => {
      new DataView(section.buffer).setUint32(0, 0xffff_ffff, true);
      return section;
    });
    expect(refusal(bytes).message).toMatch(
      /got 4294967295 [a-z ]+, expected at most \d+: \d+ bytes/,
    );
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, SectionId.sourceMap])(
    'section %d goes on after its end',
    (id) => {
      const bytes = withSection(id, (section) => {
        const longer = new Uint8Array(section.length + 1);
        longer.set(section);
        return longer;
      });
      expect(refusal(bytes).message).toMatch(/section \w+, byte \d+: got \d+ (more )?bytes/);
    },
  );

  test.each([1, 2, 3, 4, 5, 6, 7, 8, SectionId.sourceMap])(
    'section %d ends at any byte before its end',
    (id) => {
      const { sections } = takeApart(file);
      const length = sections.find((section) => section.id === id)?.bytes.length ?? 0;
      for (let end = 0; end < length; end++)
        refusal(withSection(id, (bytes) => bytes.slice(0, end)));
    },
  );
});

describe('the data section', () => {
  test('with another byte is refused by its block', () => {
    const bytes = patched((_, bytes) => (bytes[bytes.length - 1] = 1));
    expect(refusal(bytes).message).toMatch(/^data block 1, byte \d+: got SHA-256/);
  });

  test('with padding other than zero is refused, even with right hashes', () => {
    const bytes = withParts((parts) => {
      parts.data[20] = 1;
      return rehashData(parts);
    });
    expect(refusal(bytes).message).toContain(
      'data section, byte 16: got padding after a tensor that is not zero, expected zeros.',
    );
  });

  test('that is too long for its tensors is refused, even with right hashes', () => {
    const bytes = withParts((parts) => rehashData({ ...parts, data: new Uint8Array(5000) }));
    expect(refusal(bytes).message).toBe(
      'data section: got 5000 bytes, expected 862, where the last tensor ends.',
    );
  });

  test('that is too short for its tensors is refused, even with right hashes', () => {
    const bytes = withParts((parts) => rehashData({ ...parts, data: parts.data.slice(0, 600) }));
    expect(refusal(bytes)).toBeInstanceOf(VerifyError);
    expect(refusal(bytes).message).toContain('got a tensor that ends at byte 862');
  });
});
