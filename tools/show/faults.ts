import type { Row, Section } from '../faults/sections/row.ts';

/** The parts of the table, in order, by the word that selects them. */
const SECTIONS: Readonly<Record<string, () => Promise<Section>>> = {
  hostile: async () => (await import('../faults/sections/hostile-files.ts')).hostileFiles,
  shared: async () => (await import('../faults/sections/shared-files.ts')).sharedFiles,
  page: async () => (await import('../faults/sections/page-thread.ts')).pageThread,
  memory: async () => (await import('../faults/sections/memory.ts')).memory,
  injected: async () => (await import('../faults/sections/injected.ts')).injected,
};

/** `npm run show -- faults [WORD …]`: those sections, or all of them. Resolves to the exit status. */
export async function main(words: readonly string[] = []): Promise<number> {
  const unknown = words.filter((word) => !Object.hasOwn(SECTIONS, word));
  if (unknown.length > 0) {
    console.error(`got ${unknown.join(', ')}, expected ${Object.keys(SECTIONS).join(', ')}`);
    return 2;
  }
  const rows: Row[] = [];
  for (const [name, load] of Object.entries(SECTIONS)) {
    if (words.length > 0 && !words.includes(name)) continue;
    console.log(`\n${name}`);
    for (const row of await rowsOf(name, await load())) {
      print(row);
      rows.push(row);
    }
  }
  const failed = rows.filter(({ ok }) => !ok).length;
  console.log(failed === 0 ? `\nall ${rows.length} hold` : `\n${failed} of ${rows.length} FAILED`);
  return failed === 0 && rows.length > 0 ? 0 : 1;
}

/** A section that throws is a failed row, so that the others are still shown. */
async function rowsOf(title: string, section: Section): Promise<readonly Row[]> {
  try {
    return await section();
  } catch (error) {
    const got = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return [{ title, wanted: 'rows', got, ok: false }];
  }
}

function print({ title, wanted, got, ok }: Row): void {
  const cells = [ok ? 'ok    ' : 'FAILED', title.padEnd(48), `wanted ${wanted}`.padEnd(40), got];
  console.log(cells.join('  '));
}
