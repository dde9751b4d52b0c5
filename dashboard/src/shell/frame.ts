import { type ComponentType, createContext, use } from 'react';
import type { IconName } from '../components/icon.tsx';
import type { ConsoleKind } from './consoles.ts';
import type { Destination } from './navigation.ts';

/** Something that the palette can open. */
export interface Command {
  readonly id: string;
  readonly label: string;
  readonly group: string;
  readonly icon: IconName;
  readonly run: () => void;
}

/** What a palette offers before and after the pages, and what the service finds for the text. */
export interface Commands {
  readonly own: readonly Command[];
  readonly others: readonly Command[];
  readonly hits: readonly Command[];
}

/** What the frame of a console shows around its pages. */
export interface Frame {
  readonly kind: ConsoleKind;
  /** Follows the name of the service, such as `Reseller`. */
  readonly label?: string;
  readonly pages: readonly Destination[];
  /** The name of the navigation that has the pages. */
  readonly pagesLabel: string;
  /** More of the sidebar, below the pages. */
  readonly Navigation?: ComponentType;
  /** Whether phones get the pages in a bar at the bottom, where a thumb reaches them. */
  readonly hasBottomBar?: boolean;
  readonly useAccount: () => { readonly name: string | undefined; readonly note: string | undefined };
  /** What the palette offers besides the pages. */
  readonly useCommands: (text: string) => Commands;
  /** What the palette can open, such as `a page or a developer`. */
  readonly opens: string;
  /** What stands for `YOUR_API_TOKEN` in commands. */
  readonly tokenName: string;
}

export const FrameContext = createContext<Frame | undefined>(undefined);

export function useFrame(): Frame {
  const frame = use(FrameContext);
  if (!frame) throw new Error('No frame is around this page.');
  return frame;
}
