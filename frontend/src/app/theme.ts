/** Penstock's look: water-teal accent, cool neutrals, small radii, dense controls. */
import {
  type ActionIconProps,
  type BadgeProps,
  type ButtonProps,
  createTheme,
  type MantineColorsTuple,
  type ModalProps,
  type PaperProps,
  type PasswordInputProps,
  type TableProps,
  type TooltipProps,
} from "@mantine/core";
import { words } from "@/words";

/** Read when the first page is drawn: by then the language is known. */
const CLOSE = {
  get "aria-label"() {
    return words.common.close;
  },
};
/** Beside a password. */
const SHOW = {
  get "aria-label"() {
    return words.common.showWhatIsTyped;
  },
};

const pen: MantineColorsTuple = [
  "#e7f6f8",
  "#d2eaef",
  "#a3d5df",
  "#70bfce",
  "#48a9bc",
  "#2a94a9",
  "#167e93",
  "#0b6b80",
  "#085a6c",
  "#054757",
];

const slate: MantineColorsTuple = [
  "#d9dfe7",
  "#b7c0cc",
  "#93a0b0",
  "#6b7a8c",
  "#33404e",
  "#28333f",
  "#1a232c",
  "#11181f",
  "#0c1218",
  "#070b0f",
];

const gray: MantineColorsTuple = [
  "#f6f8fa",
  "#eff2f5",
  "#e3e8ed",
  "#d5dce3",
  "#c2cbd4",
  "#97a3b0",
  "#66727f",
  "#47525e",
  "#2c353e",
  "#171d23",
];

export const theme = createTheme({
  primaryColor: "pen",
  // White on the filled shades: 6.1:1 in light, 4.7:1 in dark (WCAG AA asks for 4.5:1).
  primaryShade: { light: 7, dark: 6 },
  colors: { pen, dark: slate, gray },
  black: "#18202a",
  fontFamily: "'Inter Variable', system-ui, -apple-system, 'Segoe UI', sans-serif",
  fontFamilyMonospace: "'JetBrains Mono Variable', ui-monospace, 'Cascadia Mono', monospace",
  fontSizes: { xs: "0.75rem", sm: "0.8125rem", md: "0.875rem", lg: "1rem", xl: "1.125rem" },
  lineHeights: { xs: "1.4", sm: "1.45", md: "1.5", lg: "1.5", xl: "1.5" },
  defaultRadius: "md",
  radius: { xs: "3px", sm: "4px", md: "6px", lg: "10px", xl: "16px" },
  headings: {
    fontWeight: "620",
    sizes: {
      h1: { fontSize: "1.375rem", lineHeight: "1.3" },
      h2: { fontSize: "1.0625rem", lineHeight: "1.35" },
      h3: { fontSize: "0.9375rem", lineHeight: "1.4" },
    },
  },
  cursorType: "pointer",
  respectReducedMotion: true,
  autoContrast: true,
  // By name: a component that is named by itself is loaded with the first view, which needs neither modals nor tooltips.
  components: {
    ActionIcon: { defaultProps: { variant: "subtle", color: "gray" } satisfies Partial<ActionIconProps> },
    Badge: { defaultProps: { variant: "light", radius: "sm", size: "sm" } satisfies Partial<BadgeProps> },
    Button: { defaultProps: { size: "xs" } satisfies Partial<ButtonProps> },
    Modal: {
      defaultProps: {
        centered: false,
        yOffset: "6vh",
        overlayProps: { backgroundOpacity: 0.45 },
        closeButtonProps: CLOSE,
      } satisfies Partial<ModalProps>,
    },
    PasswordInput: {
      defaultProps: {
        visibilityToggleFocusable: true,
        visibilityToggleButtonProps: SHOW,
      } satisfies Partial<PasswordInputProps>,
    },
    Paper: { defaultProps: { withBorder: true, radius: "lg" } satisfies Partial<PaperProps> },
    Table: { defaultProps: { verticalSpacing: 6, horizontalSpacing: "sm" } satisfies Partial<TableProps> },
    Tooltip: {
      defaultProps: { withArrow: true, openDelay: 250, multiline: true, maw: 340 } satisfies Partial<TooltipProps>,
    },
  },
});
