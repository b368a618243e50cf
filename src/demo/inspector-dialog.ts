import type { Session } from '../client/index.ts';
import { defineInspector, type WeftInspector } from '../inspector/index.ts';
import { byId } from './element.ts';

let inspector: WeftInspector | undefined;

/** Shows the program of a session from the inside, in front of the page. */
export async function openInspector(session: Session, title: string): Promise<void> {
  const dialog = byId('inside', HTMLDialogElement);
  if (inspector === undefined) {
    defineInspector();
    inspector = document.createElement('weft-inspector');
    dialog.append(inspector);
  }
  dialog.showModal();
  // The element itself says what it could not show.
  await inspector.show({ session, title }).catch(() => undefined);
}
