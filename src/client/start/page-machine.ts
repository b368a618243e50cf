import { WorkerError } from '../../core/errors.ts';
import { VERSION } from '../../core/version.ts';
import type { ServiceOptions } from '../../worker/create-service.ts';
import type { SessionService, WorkerFiles } from '../../worker/protocol/session-service.ts';
import { blobsOf } from './start-worker.ts';

/** What a page and the worker's files that it imports tell each other. */
export interface PageMachine {
  readonly version: string;
  /** Where the files are, for those that load on demand. */
  files: WorkerFiles;
  /** While the first of them comes. */
  loading?: Promise<unknown>;
  /** Set by it. */
  createService?: (options: ServiceOptions) => SessionService;
}

declare global {
  /** Set in a page that has the machine in its own thread: the worker's first file then serves nobody. */
  var weftPage: PageMachine | undefined;
}

/**
 * The machine in the thread of a page, from the files of the worker: in chunks of the page it would be in every application a
 * second time. Where a bundler left the files behind it comes from their texts. Rejects with WorkerError for a page that has another version.
 */
export async function pageMachine(
  files: WorkerFiles,
  importTexts: () => Promise<WorkerFiles>,
): Promise<Required<Pick<PageMachine, 'createService'>>> {
  const page = (globalThis.weftPage ??= { version: VERSION, files });
  if (page.version !== VERSION) {
    throw new WorkerError({
      where: 'worker: false',
      got: `weft-vm ${VERSION} in a page whose thread runs ${page.version}`,
      expected: 'one version of weft-vm in a page',
    });
  }
  page.loading ??= importMain(page).catch(async (cause: unknown) => {
    const texts = await importTexts().catch(() => {
      throw cause;
    });
    page.files = blobsOf(texts);
    return importMain(page);
  });
  try {
    await page.loading;
  } catch (error) {
    globalThis.weftPage = undefined;
    throw error;
  }
  const { createService } = page;
  if (createService === undefined) throw new WorkerError(`internal: ${files.main} has no machine`);
  return { createService };
}

const importMain = ({ files }: PageMachine): Promise<unknown> =>
  import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ files.main ?? '');
