import { Button, type ButtonProps } from "@mantine/core";
import { createLink } from "@tanstack/react-router";
import { type AnchorHTMLAttributes, forwardRef } from "react";

type AnchorButtonProps = ButtonProps & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps>;

const AnchorButton = forwardRef<HTMLAnchorElement, AnchorButtonProps>(function AnchorButton(props, ref) {
  return <Button component="a" ref={ref} {...props} />;
});

/** A link that looks like a button, with the router's typed parameters. */
export const ButtonLink = createLink(AnchorButton);
