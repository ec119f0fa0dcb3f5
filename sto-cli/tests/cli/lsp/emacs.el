;; -*- lexical-binding: t -*-
;; What a real client has of the server: hints by the lines where they stand, and a hover, by eglot. Run as
;; `emacs --batch --load`; $STO is the command.
(require 'package)
(package-initialize)
(require 'eglot)
(require 'cl-lib)
(require 'project)

;; The folder that emacs was started in is the project.
(let ((root default-directory))
  (add-hook 'project-find-functions (lambda (_) (cons 'transient root))))
(add-to-list 'eglot-server-programs `(c-mode . (,(getenv "STO") "lsp")))
(setq eglot-sync-connect 60)

(defvar sto-refreshes 0)
(cl-defmethod eglot-client-capabilities :around (_server)
  (let ((capabilities (cl-call-next-method)))
    (plist-put (plist-get capabilities :workspace) :inlayHint '(:refreshSupport t))
    capabilities))
(cl-defmethod eglot-handle-request (_server (_method (eql workspace/inlayHint/refresh)) &rest _)
  (setq sto-refreshes (1+ sto-refreshes))
  nil)

(find-file "src/demo.c")
(c-mode)
(apply #'eglot (eglot--guess-contact))
;; Settings, costs, builds before.
(with-timeout (60 (error "No refresh"))
  (while (< sto-refreshes 3) (accept-process-output nil 0.1)))
(let* ((server (eglot-current-server))
       (document (eglot--TextDocumentIdentifier))
       (hints (jsonrpc-request
               server :textDocument/inlayHint
               (list :textDocument document
                     :range '(:start (:line 119 :character 0) :end (:line 130 :character 0)))))
       (hover (progn
                (goto-char (point-min))
                (forward-line 126)
                (search-forward "count_ru")
                (jsonrpc-request server :textDocument/hover (eglot--TextDocumentPositionParams)))))
  (cl-loop for hint across hints
           do (princ (format "%d: %s\n"
                             (1+ (plist-get (plist-get hint :position) :line))
                             (plist-get hint :label))))
  (princ (plist-get (plist-get hover :contents) :value))
  (eglot-shutdown server))
