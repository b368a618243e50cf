import type { Parcel } from './parcel.ts';

/** All tabs of this site hear it; nothing leaves the browser. */
export const TAB_CHANNEL = 'weft-moves';
/** The field of a fragment that says which move a tab waits for. */
export const TAB_FIELD = 'arrives';

/** Messages of a move, which its number tells from others. */
export type MoveMessage =
  | { readonly kind: 'ready' | 'arrived' | 'refused'; readonly move: string }
  | { readonly kind: 'parcel'; readonly move: string; readonly parcel: Parcel };
